@testable import Tether

// What every interleaving must have done, at the program's end.

extension World {
    func check() {
        for index in observers.indices {
            let own = calls.filter { $0.observer == index }
            checkCounts(index, own)
            checkOrder(index, own)
        }
        for number in posts.indices {
            checkRegistrationOrder(
                calls.filter { $0.context == .post(number) && $0.post == number })
        }
        for place in [Program.Place.serial, .main] { checkPlace(place) }
        checkKeys()
        for call in calls { checkInline(call) }
    }

    /// A post that a handler makes on the main thread calls the observers of the main thread inside
    /// the handler, but for those with pending deliveries.
    private func checkInline(_ call: Call) {
        let observer = observers[call.observer]
        let post = posts[call.post]
        let isInHandler = post.contexts.contains {
            if case .handler(let index) = $0 { index != call.observer } else { false }
        }
        guard call.context == .job(.main), post.thread == 0, isInHandler, isPlain(call),
            !post.contexts.contains(.handler(call.observer))
        else { return }
        let delivered = Set(
            calls[..<post.earlierCalls].filter { $0.observer == call.observer }.map(\.post))
        let hasPending = posts.indices.contains {
            $0 != call.post && matches(posts[$0], observer) && !delivered.contains($0)
                && posts[$0].span.from < post.span.to
        }
        if !hasPending { fail("D3: post \(call.post) did not call \(call.observer) at once") }
    }

    private func matches(_ post: Post, _ observer: Observer) -> Bool {
        (observer.asked.name ?? post.name) == post.name
            && (post.isFromSender || !observer.asked.isFromSender)
    }

    private func isMuted(_ observer: Observer, during post: Post) -> Bool {
        observer.mutings.contains { $0.from < post.span.to && $0.to > post.span.from }
    }

    private func checkCounts(_ index: Int, _ calls: [Call]) {
        let observer = observers[index]
        let isOnce = observer.asked.isOnce
        if isOnce, calls.count > 1 { fail("R7: once observer \(index) was called again") }
        var mustHaveBeenCalled = false
        for (number, post) in posts.enumerated() {
            let count = calls.count { $0.post == number }
            if count > 1 { fail("M1: post \(number) called handler \(index) \(count) times") }
            if count == 1, !mayCall(observer, post) {
                fail("M1: post \(number) called handler \(index)")
            }
            guard mustCall(observer, post, number) else { continue }
            mustHaveBeenCalled = true
            if count == 0, !isOnce { fail("M1: post \(number) never called handler \(index)") }
        }
        if isOnce, mustHaveBeenCalled, calls.isEmpty {
            fail("R7: once observer \(index) was never called")
        }
    }

    private func mayCall(_ observer: Observer, _ post: Post) -> Bool {
        matches(post, observer) && post.span.to > observer.registration!.from
            && observer.ends.allSatisfy { $0.to > post.span.from }
    }

    private func mustCall(_ observer: Observer, _ post: Post, _ number: Int) -> Bool {
        guard let registration = observer.registration, matches(post, observer),
            !isMuted(observer, during: post)
        else { return false }
        // A post that calls an observer calls each observer that was made earlier.
        let callsLater = calls.contains {
            $0.post == number && observers[$0.observer].registration!.from > registration.to
        }
        guard registration.to < post.span.from || callsLater else { return false }
        guard let end = observer.ends.map(\.from).min() else { return true }
        // Another post may have claimed the call of a once observer, and found the end.
        if observer.asked.isOnce || end < post.span.to { return false }
        let isInline = observer.asked.place == .postingThread && !observer.isSwitched
        return isInline || observer.ends.allSatisfy(\.deliversPending)
    }

    private func isEarlier(_ one: Int, than other: Int) -> Bool {
        posts[one].span.to < posts[other].span.from
    }

    private func checkOrder(_ index: Int, _ calls: [Call]) {
        let plain = calls.map(\.post).filter { !isMuted(observers[index], during: posts[$0]) }
        for (place, late) in plain.enumerated() {
            if let overtaken = plain[..<place].first(where: { isEarlier(late, than: $0) }) {
                fail("D4: handler \(index) got post \(late) after post \(overtaken)")
            }
        }
    }

    private func isPlain(_ call: Call) -> Bool {
        !observers[call.observer].isSwitched && observers[call.observer].mutings.isEmpty
    }

    /// A serial queue handles each post as a whole, and the posts in order.
    private func checkPlace(_ place: Program.Place) {
        let here = calls.filter {
            observers[$0.observer].asked.place == place && isPlain($0)
                && !(place == .main && !posts[$0.post].contexts.isEmpty)
        }
        var seen: [Int] = []
        for post in here.map(\.post) where post != seen.last {
            if seen.contains(post) {
                fail("D4: post \(post) is not handled as a whole at \(place)")
            }
            if let overtaken = seen.first(where: { isEarlier(post, than: $0) }) {
                fail("D4: at \(place) post \(post) is handled after post \(overtaken)")
            }
            seen.append(post)
        }
        checkRegistrationOrder(here)
    }

    private func checkRegistrationOrder(_ calls: [Call]) {
        let plain = calls.filter(isPlain)
        for (one, other) in zip(plain, plain.dropFirst()) where one.post == other.post {
            let first = observers[one.observer].registration!
            let second = observers[other.observer].registration!
            if second.to < first.from {
                fail("M3: post \(one.post) called \(one.observer) before \(other.observer)")
            }
        }
    }

    /// No post calls an observer and its replacement.
    private func checkKeys() {
        for number in posts.indices {
            let called = Set(calls.filter { $0.post == number }.map(\.observer))
            let keyed = called.filter { observers[$0].asked.hasKey }
            if Set(keyed.map { observers[$0].asked.isOwned }).count < keyed.count {
                fail("M7: post \(number) called the observers \(keyed) of one key")
            }
        }
    }

    /// Ends everything. Then nothing may be left.
    func tearDown() {
        owner = nil
        for (index, observer) in observers.enumerated() {
            guard let token = observer.token.take() else { continue }
            token.cancel()
            if token.isActive { fail("R1: observer \(index) is active") }
            if !observer.hasReleasedCaptures { fail("R8: the captures of \(index) are left") }
        }
        if payloads > 0 { fail("R8: \(payloads) notifications are left") }
        guard let core = center?.core else { return }
        if !core.isEmpty { fail("M9: the center keeps something") }
        if !core.waitingOnMain.isZero {
            fail("D3: deliveries are counted at the main thread")
        }
    }
}
