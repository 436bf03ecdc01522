import Testing

@testable import Tether

@Suite struct SequenceStateTests {
    private typealias State = SequenceState<Int, String>

    private func all(_ state: inout State) -> [Int] {
        var elements: [Int] = []
        while case .some(.some(let element)) = state.take() { elements.append(element) }
        return elements
    }

    private func offering(_ numbers: Range<Int>, to policy: BufferingPolicy) -> (state: State, dropped: [Int]) {
        var state = State(policy)
        var dropped: [Int] = []
        for number in numbers {
            if case .dropped(let element) = state.offer(number) { dropped.append(element) }
        }
        return (state, dropped)
    }

    @Test func `S3 an unbounded buffer keeps all`() {
        var (state, dropped) = offering(0..<1_000, to: .unbounded)
        #expect(dropped == [] && state.dropped == 0 && state.count == 1_000)
        #expect(all(&state) == Array(0..<1_000))
    }

    @Test func `S3 a buffer of the newest drops the oldest, and counts it`() {
        var (state, dropped) = offering(0..<10, to: .newest(3))
        #expect(dropped == Array(0..<7) && state.dropped == 7 && state.count == 3)
        #expect(all(&state) == [7, 8, 9])
    }

    @Test func `S3 a buffer of the oldest drops what is new, and counts it`() {
        var (state, dropped) = offering(0..<10, to: .oldest(3))
        #expect(dropped == Array(3..<10) && state.dropped == 7 && state.count == 3)
        #expect(all(&state) == [0, 1, 2])
    }

    @Test func `S1 a waiting task gets the next element in its turn, past any buffer`() {
        var state = State(.newest(1))
        guard case .none = state.take(for: "one"), case .none = state.take(for: "two") else {
            Issue.record("There was something to take.")
            return
        }
        guard case .handed(to: "one") = state.offer(1), case .handed(to: "two") = state.offer(2) else {
            Issue.record("Nobody waited.")
            return
        }
        #expect(state.count == 0)
        #expect(all(&state) == [])
    }

    @Test func `S2 the end keeps the elements or releases them, and resumes every waiting task`() {
        for keeps in [true, false] {
            var (state, _) = offering(0..<3, to: .unbounded)
            let (consumers, elements) = state.finish(keepingElements: keeps)
            #expect(consumers == [] && elements == (keeps ? [] : [0, 1, 2]))
            guard case .dropped(3) = state.offer(3) else {
                Issue.record("Something was taken after the end.")
                return
            }
            #expect(all(&state) == (keeps ? [0, 1, 2] : []))
            guard case .some(.none) = state.take(for: "late") else {
                Issue.record("There was no end.")
                return
            }
        }
        var state = State(.unbounded)
        _ = state.take(for: "one")
        _ = state.take(for: "two")
        #expect(state.finish(keepingElements: true).consumers == ["one", "two"])
        #expect(state.finish(keepingElements: false).consumers == [])
    }
}
