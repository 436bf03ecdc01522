extension Scenario {
    /// Rows about targets, pending deliveries, bounds and muting.
    static let delivery = rows(
        """
        `D1 M3 a post calls its observers in the order of registration`
            observe a; observe b any; observe c; post 2 -> a1 b1 c1 a2 b2 c2

        `M3 D1 a post's deliveries are on their queues before its first handler is called`
            observe a { run each }; observe b on each; observe c; post -> a1 b1 c1

        `M3 D4 a scheduler that runs its job at once comes after the post's other blocks`
            observe a on immediate { post n1 }; observe b any on concurrent; post -> a1;
            run concurrent oldest -> b1; run concurrent -> b2

        `D2 a post is one job on a target`
            observe a on serial; observe b on serial; post 3 in c0 -> jobs 3;
            run serial oldest -> a1 b1; run serial -> a2 b2 a3 b3

        `F1 D2 a post over a foreign center is one job for each observer`
            observe a on serial in foreign; observe b on serial in foreign;
            post 3 in foreign -> jobs 6; run serial oldest -> a1; run serial -> b1 a2 b2 a3 b3

        `D2 D4 a post is one step on a serial target, also if its handler posts`
            observe a on serial { post n1 }; observe b any on serial; post 2;
            run serial -> a1 b1 a2 b2; run serial -> b3 b4

        `R1 an observer that an earlier call of the same block ended is not called`
            observe a any on serial; observe c n1 on serial { cancel b }; observe b any on serial;
            post; post n1; post; run serial -> a1 b1 a2 c2 a3 ended b

        `D3 a post on a loop waits behind another observer's delivery there`
            observe a on serial; observe b n1 on loop; post n1 -> b1; post; move a to loop;
            post n1 -> none; run loop -> a2 b3; post n1; post -> b4 a5

        `D3 D6 a delivery that has left the loop holds up no post there`
            observe a on serial; observe b n1 on loop; post; move a to loop;
            [move a to serial; post n1 -> b2; run serial -> a1 | cancel a; post n1 -> b2];
            run loop -> none

        `D3 a handler's post on its loop calls observers without pending deliveries`
            observe a on serial { post n1 }; observe b n1 on loop; observe c any on serial;
            post; move a to loop; move c to loop; run loop -> a1 b2 c1 c2

        `D3 D9 a handler's unmuting calls at once where other deliveries wait`
            observe a on serial { mute b newest; post n1; unmute b }; observe b n1 on loop;
            observe c on serial; post; move a to loop; move c to loop; run loop -> a1 b2 c1

        `D4 a job that a scheduler runs inside a handler keeps the other observer's order`
            observe a on serial { run serial oldest }; observe b on serial; post 2 in c0;
            run serial -> a1 b1 b2 a2

        `D2 D7 a cancelled job of a batching observer drops all that waits, counted`
            observe a on batching; post 5; drop batching oldest -> pending 0 dropped 5; post;
            run batching -> a6

        `D2 cancelled jobs drop and count only pending deliveries`
            observe a on each; post; run each -> a1; post 3; drop each -> pending 0 dropped 3; post;
            run each -> a5

        `D2 D6 D7 cancelled jobs on an earlier target drop nothing`
            observe a on each; post 3; move a to loop; drop each; run loop -> a1 a2 a3 dropped 0

        `R7 R8 a once observer whose delivery is dropped ends and releases its captures`
            observe a on each once; post -> active a; drop each -> none ended a released a observers 0

        `D6 posts before a switch are delivered before posts after it`
            observe a on each; post 2; move a to [immediate | loop; run loop] -> a1 a2;
            post 2 -> a3 a4; run each -> none

        `D6 after a switch to the posting thread, posts join the old target's`
            observe a on each; post; move a to posting; post -> none; run each -> a1 a2; post -> a3

        `D6 a switch to the posting thread inside the handler waits for its return`
            make C { move a to posting; post n1 }; observe a any on each { release C }; post;
            run each -> a1 /a; run each -> a2; post -> a3

        `D6 an owner's observers move with their deliveries, in posting order`
            make A; observe a of A on each; observe b n1 of A on each; post n1; post; post n1; post;
            move A to immediate -> b1 a2 b3 a4; post n1 -> b5

        `D8 a bound of the newest drops the oldest deliveries, and counts them`
            observe a on each; bound a newest-2; post 5 -> pending 2 dropped 3; run each -> a4 a5

        `D8 a bound of the oldest drops and counts new notifications`
            observe a on each; bound a oldest-3; post 5 -> pending 3 dropped 2; run each -> a1 a2 a3;
            post 2; run each -> a6 a7 pending 0 dropped 2

        `D8 a bound set later drops at once, and without a bound everything waits`
            observe a on each; post 10; bound a newest-4 -> pending 4 dropped 6;
            bound a newest-1 -> pending 1 dropped 9 released 9 holds 10; bound a unbounded; post 3;
            run each -> a10 a11 a12 a13

        `D8 a bound that is given at the registration holds from the first post on`
            make A; observe a on serial newest-1; observe b of A on serial oldest-1;
            observe c of A on concurrent newest-2; observe d newest-3; post 3 -> d1 d2 d3
            pending 4 dropped 5; run serial; run concurrent -> b1 a3 c2 c3

        `D8 R7 a once observer's first delivery is not displaced by later posts`
            observe a on each newest-1 once; post 3 -> pending 1 dropped 0; run each -> a1 ended a

        `D9 unmuting puts the kept notification behind pending and before later ones`
            observe a on each; post; mute a newest; post 2 -> pending 2 dropped 1 muted 1;
            unmute a; post -> none pending 3 muted 0; run each -> a1 a3 a4

        `D9 R7 a post dropped while muted does not use up a once observer`
            observe a on each once; mute a; post 3; run each -> none dropped 3 active a; unmute a;
            post 2; run each -> a4 ended a

        `D9 posts while muted are dropped, or the newest is kept`
            make A; observe a; observe b of A; mute a newest; mute A; post 2 -> none;
            unmute a -> a2; cancel a; unmute A; post -> b3

        `D9 the newest is kept from when the first of several mutings asks for it`
            observe a; mute a; post -> dropped 1; mute a newest; post; unmute a;
            post -> none pending 1 dropped 2; unmute a -> a3; mute a; post; unmute a -> none

        `D9 R8 the end of the token or of the center releases the kept notification`
            observe a; mute a newest; post -> holds 1; release a -> released 1;
            observe b in c1; mute b newest; post in c1 -> holds 2;
            renewCenter in c1 -> released 2 ended b

        `D9 muting an owner mutes only the present observers`
            make A; observe a of A; mute A newest; post 2; observe b of A; post -> b3;
            unmute A -> a3; post -> a4 b4

        `D9 all observers of an owner are muted, on all centers, and nobody else's`
            make A; make B; observe a of A; observe b of A on each; observe c of A in c1; observe d of B;
            mute A; post; post in c1; run each -> d1 dropped 3 muted 3; unmute A;
            post; post in c1; run each -> a3 d3 c4 b3

        `D9 an owner's mutings are counted apart from the mutings of tokens`
            make A; observe a of A; mute A; mute A; mute a -> muted 3; unmute A; unmute A -> muted 1;
            mute A; unmute a -> muted 1; post; unmute A; post -> a2

        `D9 the kept notifications of an owner's observers are delivered in posting order`
            make A; observe a of A; observe b n1 of A; observe c n2 of A; mute A newest;
            post n1; post n2; post; unmute A -> b1 c2 a3

        `R11 finishing makes the pending deliveries and takes no post`
            observe a on each; post 2; finish a; post -> active a; run each -> a1 a2 ended a

        `R11 D1 an observer that finishes in its handler inside a post ends`
            observe a { finish a }; post 2 -> a1 ended a

        `R11 D9 finishing keeps the other deliveries of the same unmuting`
            make A; observe a of A { finish b }; observe b of A; mute A newest; post;
            unmute A -> a1 b1 ended b
        """)
}
