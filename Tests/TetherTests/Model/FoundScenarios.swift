extension Scenario {
    /// Shrunk sequences on which the library and the model once differed.
    static let found = rows(
        """
        `Q2 R10 a posting queue may be released after its last notification was dequeued`
            observe a any; enqueue n0 asap; enqueue n1 asap; dequeue n1 by-name; renewQueue -> none

        `Q3 X3 a queued post of an ended sender is replaced by none without a sender`
            make A { enqueue from dying asap }; observe a; release A; enqueue asap by-both;
            flush -> a1 a2

        `Q3 a notification posted now releases its equals before its handlers run`
            make A; enqueue from A asap; observe a { release A }; enqueue now by-name -> a2
            released A

        `D2 D9 a handler that an owner's unmuting calls may drop the unmuting's jobs`
            make A; observe a n1 of A on serial; observe b of A { drop serial; post n1 };
            mute A newest; post n1; post; unmute A -> b2; run serial -> a3

        `S2 R9 a removal in its sender's deinit releases a sequence's elements`
            make A { post from dying; remove }; sequence s0 any from A; release A -> released 1;
            take s0 -> s0.end

        `S1 S2 each task that iterates a sequence observes for itself`
            make A; sequence s0 of A; take s0; take s0; post; resume s0; take s0 -> s0.1 s0.1;
            release A -> none; take s0 -> s0.end s0.end

        `D4 D7 jobs that come while a batch is delivered are run after it`
            observe a on batching { post; run batching }; post 2; run batching -> a1 a2 a3 ...

        `D4 D8 a concurrent target's job whose delivery was dropped makes an earlier one`
            observe a on concurrent; post 2; bound a oldest-1; run concurrent newest -> a1

        `D4 all jobs that come while the handler runs are run after it`
            observe a on serial { post 2; run serial }; post; run serial -> a1 a2 a3 ...

        `R8 a once muted observer that a handler of the same post ended is not called`
            observe a { cancel b }; observe b; mute b; unmute b; post -> a1 released b

        `D6 a post in a handler on the old target does not call it inline on the new one`
            observe a on serial { move a to loop; post }; post; run serial -> a1; run loop -> a2 ...

        `D6 jobs on the new target wait there for the handler that runs on the old one`
            observe a on serial { move a to loop; post; run loop }; post; run serial -> a1;
            run loop -> a2 ...

        `D6 jobs on a target that was left and set again wait there for a running handler`
            observe a any { run batching };
            observe b any {
                make A { post 2; move b to serial }; move b to batching; post
            };
            post 2 in c0 -> a1 b1 a2 b2 ...

        `D4 D6 a job in front of the jobs of moved deliveries overtakes none of them`
            observe b n1 on serial { post; run serial }; observe a on batching; post n1; post;
            move a to serial; run serial -> b1 a2 a3

        `D2 a scheduler that runs its job at once does so in the order of the schedulers`
            observe a any on immediate { run batching oldest }; observe b any on batching;
            post in c0 -> a1

        `D2 D4 a post in a handler that runs at once keeps its place on other schedulers`
            observe a any on immediate { post }; observe b any on serial; post in c0 -> a1 a2 a3 ...;
            run serial -> b2 b3 b4 ...

        `D7 a job counts as waiting before its post submits the job`
            observe a any on immediate { post }; observe b any on batching; post in c0 -> a1 a2 a3 ...;
            run batching -> b1 b2 b3 ...

        `D2 D4 jobs of a concurrent target run in any order, and one of them is cancelled`
            observe a on concurrent; post 4; run concurrent newest -> a1 a2 a3 a4;
            drop concurrent oldest -> dropped 0; bound a newest-1; run concurrent oldest;
            run concurrent -> none

        `R8 D6 a job that a handler of the post causes releases its deliveries`
            make A; observe g any of A { move g to immediate }; observe g any once; observe a any;
            post -> g1 g1 a1 released 1

        `R4 D6 observers that a handler switches are called in the turn of its post`
            make B; observe a any { move B to loop }; observe b any of B;
            observe c any of B on serial in c1; post in c1; post -> a2 b2 pending 1

        `D4 D8 a job whose delivery was dropped makes an earlier waiting delivery`
            observe a any on serial { bound b oldest-1; run serial oldest };
            observe b any on serial; post 2 in c0; run serial -> a1 b1 a2

        `R4 D9 a post calls an observer switched and unmuted during it in its turn`
            observe a once { move b to serial; post; run serial };
            observe b on loop { post n1 };
            observe c n1 once { move b to loop; mute b newest; post; unmute b };
            post -> a1 b2 c3 b1; run loop; run loop -> b4

        `D4 jobs that wait for a running handler make their deliveries in posting order`
            observe a any on immediate { make B; post }; observe b any on serial { post };
            observe c any { make B { run serial oldest } }; post; run serial oldest -> a1 c2 a2 b2 ...

        `D2 D8 a cancelled job drops no delivery for which a bound has left a job`
            observe b any on concurrent; post 3; run concurrent newest -> b1 b2 b3;
            bound b oldest-1; drop concurrent oldest; run concurrent -> none dropped 0

        `R7 D9 an unmuting claims once observers before the first call of a handler`
            make A; observe b n1 of A once { post n1 }; observe b n1 of A once { post n1 };
            mute A newest; post n1; unmute A -> b1 b1

        `D9 a muting by a handler of an unmuting holds back nothing of the unmuting`
            make A; observe a any of A { mute A newest }; observe b any of A; mute A newest; post;
            unmute A -> a1 b1; post; run serial -> none

        `D6 D9 a switch by a handler of an unmuting holds back nothing of the unmuting`
            make A; observe a any of A { move A to serial }; observe b any of A; mute A newest; post;
            unmute A -> a1 b1; post; run serial -> a2 b2

        `D6 D9 a handler that switches to the posting thread holds back nothing kept`
            make A; observe a any of A { move A to posting }; observe b any of A; mute A newest; post;
            unmute A -> a1 b1; post -> a2 b2

        `D6 D9 a kept notification does not hold up a switch to the posting thread`
            observe a any on serial; mute a newest; post; move a to posting; unmute a -> a1

        `R4 R11 an observer finished in its own call is not called by the same post`
            make B; observe a from B any { finish b }; observe b any { post from B }; post -> b1 a2

        `D6 an owner's pending deliveries move to a scheduler that runs each at once`
            make A; observe a any of A on serial { post }; observe b any of A on concurrent; post 2;
            move A to immediate -> a1 b1 b2 b3 a2 ...
        """)
}
