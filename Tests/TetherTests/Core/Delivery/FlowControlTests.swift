import Testing

@testable import Tether

/// The state of muting, without an observer.
@Suite struct FlowControlTests {
    private var flow = FlowControl<Int>()

    @Test mutating func `D9 muting is counted, and a muting that is not there cannot be ended`() {
        var mutings = [flow.mutings]
        var ended = [flow.unmute()]
        for _ in 0..<2 {
            flow.mute(keepingNewest: false)
            mutings.append(flow.mutings)
        }
        for _ in 0..<3 {
            ended.append(flow.unmute())
            mutings.append(flow.mutings)
        }
        #expect(mutings == [0, 1, 2, 1, 0, 0])
        #expect(ended == [false, true, true, false])
        #expect(!flow.isMuted)
    }

    @Test mutating func `D9 an observer is muted while its token or its owner mutes it`() {
        flow.mute(keepingNewest: false)
        flow.shareMutings(2, keepingNewest: false)
        #expect(flow.mutings == 3)
        var ended = [flow.unmute()]
        #expect(flow.isMuted)
        flow.shareMutings(-1, keepingNewest: false)
        #expect(flow.isMuted)
        ended.append(flow.unmute())
        flow.shareMutings(-1, keepingNewest: false)
        #expect(!flow.isMuted && ended == [true, false])
    }

    @Test mutating func `D9 an owner's muting that ends before it has begun here leaves nothing`() {
        flow.shareMutings(-1, keepingNewest: false)
        #expect(!flow.isMuted && flow.mutings == 0)
        // Not made up for by a muting of the token's.
        flow.mute(keepingNewest: false)
        #expect(flow.isMuted && flow.mutings == 1)
        _ = flow.unmute()
        flow.shareMutings(1, keepingNewest: true)
        #expect(!flow.isMuted && !flow.keepsNewest && flow.mutings == 0)
    }

    @Test mutating func `D9 the newest is kept from when a muting asks for it until the last one ends`() {
        flow.mute(keepingNewest: false)
        #expect(!flow.keepsNewest)
        flow.shareMutings(1, keepingNewest: true)
        #expect(flow.keepsNewest)
        var displaced = [flow.keep(1), flow.keep(2)]
        flow.shareMutings(-1, keepingNewest: false)
        #expect(flow.keepsNewest && flow.kept == 2)
        displaced.append(flow.keep(3))
        _ = flow.unmute()
        #expect(!flow.keepsNewest && displaced == [nil, 1, 2])
        let kept = [flow.takeKept(), flow.takeKept()]
        #expect(kept == [3, nil] && flow.kept == nil)
    }

    @Test func `D9 an owner's mutings are counted, and its wish to keep ends with the last`() {
        var muting = Muting()
        var ended = [muting.end()]
        muting.begin(keepingNewest: true)
        muting.begin(keepingNewest: false)
        ended.append(muting.end())
        #expect(muting.count == 1 && muting.keepsNewest)
        ended.append(muting.end())
        #expect(muting.count == 0 && !muting.keepsNewest)
        ended.append(muting.end())
        #expect(muting.count == 0 && ended == [false, true, true, false])
    }

    @Test func `D8 a backlog tells what it is, and equals another of the same size`() {
        #expect(BufferingPolicy.newest(2) == .newest(2))
        #expect(BufferingPolicy.newest(2) != .newest(1))
        #expect(BufferingPolicy.newest(2) != .oldest(2))
        #expect(BufferingPolicy.newest(.max) == .unbounded && BufferingPolicy.oldest(.max) == .unbounded)
        let policies: [BufferingPolicy] = [.unbounded, .newest(7), .oldest(1)]
        #expect(policies.map(\.description) == ["unbounded", "newest 7", "oldest 1"])
    }
}
