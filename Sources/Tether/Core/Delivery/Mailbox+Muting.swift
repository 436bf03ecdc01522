internal import Foundation

// Muting and unmuting one or several observers (D9). `Muting` counts the mutings of one observer.
//
// The state of each observer is protected by the lock of its mailbox, and two observers
// are never locked at the same time. An unmuting of several observers is like one post: first each
// observer is unmuted under its lock, then the blocks are submitted, and then the handlers of the
// unmuting thread are called. On a queue, a post that comes between is handled after the kept
// notification, because the delivery of a kept notification is late, or because a later block makes
// all deliveries up to its own; see `DeliveryOrder`. A post on a target like `.main` is
// appended behind a late delivery. On the posting thread, another thread's post may be handled
// first.

extension Mailbox {
    /// While the observer is muted, keeps a notification in place of the older kept one. If none is
    /// to be kept, drops the notification.
    func keep(
        _ notification: Notification, as waiting: inout WaitingForm, _ targetName: String,
        in state: inout State, _ post: inout Post
    ) {
        guard state.extras.muting.keepsNewest else {
            return countDrop(of: notification, because: .muted, in: &state)
        }
        let delivery = post.delivery(
            of: waiting.store(notification), waitsSince: reportWait(on: targetName))
        if let displaced = state.extras.muting.keep(delivery) {
            drop(displaced, because: .muted, in: &state, &post.effects)
        }
    }

    var isMuted: Bool { state.withLock { $0.isMuted } }

    /// The place of the kept notification in posting order.
    var postNumberOfKept: PostNumber? { state.withLock { $0.kept?.postNumber } }

    func mute(by muter: Muting.Muter, keepingNewest: Bool) {
        state.withLock { $0.extras.muting.begin(by: muter, keepingNewest: keepingNewest) }
    }

    /// Ends one muting of each observer. Returns false if the token has not muted. The kept
    /// notifications are delivered as if by one post, made now.
    static func unmute(_ observers: [Mailbox], by muter: Muting.Muter) -> Bool {
        var isMuted = true
        unsafe ThreadRecord.withGuard(epoch: EpochGuard.noEpoch) { epochGuard in
            var post = Post()
            var calls: [InlineCall] = []
            for mailbox in observers where isMuted {
                isMuted = mailbox.unmute(by: muter, &post, &calls)
            }
            post.effects.carryOut()
            var previous = RegistrationAddress.none
            for call in calls {
                unsafe call.registration.perform(call.delivery, after: &previous, at: epochGuard)
                // At once: the handler of a later call may finish this observer (R11).
                call.mailbox.change { state, _ in state.extras.unmutingCalls -= 1 }
            }
        }
        return isMuted
    }

    /// A call of a handler with its kept notification, on the unmuting thread.
    private struct InlineCall {
        let mailbox: Mailbox
        let registration: Registration
        let delivery: Delivery
    }

    private func unmute(
        by muter: Muting.Muter, _ post: inout Post, _ calls: inout [InlineCall]
    ) -> Bool {
        state.withLock { state in
            if state.hasEnded { return true }
            // The rare part is not made for an observer that was never muted.
            guard state.hasExtras else { return muter == .owner }
            switch state.extras.muting.end(by: muter) {
            case .refused:
                // The owner has not muted an observer that was attached later.
                return muter == .owner
            case .stillMuted, .over(nil):
                return true
            case .over(let kept?):
                deliverKept(kept, in: &state, &post, &calls)
                return true
            }
        }
    }

    private func deliverKept(
        _ delivery: Delivery, in state: inout State, _ post: inout Post,
        _ calls: inout [InlineCall]
    ) {
        // Released past the lock, whatever follows.
        post.effects.release(delivery.stored)
        // Only a call keeps this reference past the lock. The reference is not the last one: the
        // end of the observer has one, and waits for this lock.
        guard let registration = registration.retained else { return }
        // The claim comes with the unmuting: a kept notification does not use up a once observer
        // (R7). After a drop, `settle` need not be called: the delivery that has the claim ends the
        // registration anyway.
        if !registration.mayTakeDelivery() {
            drop(delivery, because: .usedUp, in: &state, &post.effects)
        } else if isInline(state, &post.overtaking) {
            state.extras.unmutingCalls += 1
            calls.append(
                InlineCall(mailbox: self, registration: registration, delivery: delivery))
        } else {
            var delivery = delivery
            delivery.postNumber = PostNumber.next()
            append(delivery, isLate: true, to: &state, &post.effects)
        }
    }
}
