extension Scenario {
    /// Rows about the ends of observers, owners, senders and centers, and the releases there.
    static let lives = rows(
        """
        `R1 no post calls an observer that has ended`
            make A; make B; observe a from A of B key v0; post from A -> a1;
            [ cancel a | cancel B | removeObserver a in c0 | removeObserver a n0 from A in c0 | remove n0
            | remove from A | remove of B | removeObserver B in c0 | remove | release B | release A
            | observe b n1 of B key v0 ] -> ended a released a;
            post from A; post; post plain from A; post plain -> none

        `R1 R4 an observer that an earlier handler of the same post ended is not called`
            make A; make B; observe c any once
            { [ cancel a | cancel B | removeObserver a in c0 | removeObserver a n0 from A in c0 | remove from A
            | remove of B | removeObserver B in c0 | release B | observe b n1 of B key v0 ] };
            observe a from A of B key v0; observe d; post from A in c0 -> c1 d1 ended a released a

        `R1 R4 all observers that an earlier handler of the post removed are not called`
            make A; observe c any once { [ remove n0 | remove ] }; observe a; observe b of A; observe d;
            post -> c1 ended abcd

        `R1 R8 pending deliveries of an observer that has ended are not made`
            make A; make B; observe a from A of B on each key v0; post 2 from A;
            [ cancel a | cancel B | removeObserver a in c0 | removeObserver a n0 from A in c0 | remove n0
            | remove from A | remove of B | removeObserver B in c0 | remove | release B
            | observe b n1 of B key v0 ] -> ended a released a released 1 released 2;
            run each; post from A -> none

        `R1 no handler starts after cancel(), nor after the token's deinit`
            observe a; observe b; post -> a1 b1; cancel a; release b; post -> none observers 0

        `R1 R8 cancel() drops pending deliveries, handler and payload`
            observe a on each; post 2; cancel a -> released a released 1 released 2 ended a;
            run each; post -> none

        `R3 M5 a second cancellation during a post ends no other observer's watch`
            make A; observe a from A; observe b from A; observe c n1 { cancel a; cancel a; cancel a };
            post n1 -> c1 ended a active b; release A -> ended b observers 1

        `R4 an observer added during a post is first called by the next post`
            observe a once { observe b; observe c any }; post in c0 -> a1; post -> b2 c2

        `R7 R8 a once observer's captures are released when its post ends`
            observe a once; observe b; post in c0 -> a1 b1 ~a

        `R7 O3 a once observer with an owner that is deallocated first does not run`
            make A; observe a of A once; release A -> ended a; post -> none

        `R7 a once observer cancelled with a pending delivery does not run`
            observe a on each once; observe b on each once; post 3; cancel a; run each -> b1 ended b

        `R7 a once observer runs once, also if its handler posts`
            observe a once { post }; post n1 -> active a; post; post -> a2 ended a observers 0

        `R8 captures are released before cancel() returns`
            observe a; cancel a -> released a

        `R8 captures of an observer that its handler cancels are released at the return`
            observe a [ | on each ] { cancel a }; post; run each -> a1 /a ~a

        `R8 an observer cancelled in its handler in a nested post is released after it`
            observe a n1 { cancel a }; observe b { post n1; post n2 }; observe c n2;
            post in c0 -> b1 a2 ~a c3

        `R8 cancelled inside a post of another handler, an observer is released at once`
            observe a { cancel b; post n2 }; observe b [ | n1 ]; observe c n2; post in c0 -> a1 ~b c2

        `R10 queued deliveries of a center are dropped with their payload`
            observe a on each in c1; post in c1; renewCenter in c1 -> released a released 1 ended a;
            run each -> none

        `M5 X3 a post in a sender's deinit has no object, and observers end after it`
            make A { post from dying; post from dying }; observe a from A on each;
            release A -> none pending 2 active a released A; run each -> a1 a2 ~a ended a observers 0

        `M5 D2 an observer of a dead sender ends when the pending delivery is dropped`
            make A { post from dying }; observe a from A on each; release A -> active a;
            drop each -> none ended a released a observers 0

        `X3 an object that is being deinitialised is not kept for later`
            make A { post from dying }; observe a on each; observe b; release A -> b1 released A;
            run each -> a1

        `M5 D9 a sender's last post, kept while muted, is delivered after its end`
            make A { post from dying }; observe a from A; mute a newest;
            release A -> none active a pending 1; unmute a -> a1 ended a

        `F1 M5 O8 a sender or owner observes nothing in its deinit`
            make A { observe a n1 from dying; observe b n1 of dying; post n1 from dying };
            observe c from A; release A -> none ended abc observers 0

        `F1 M5 posts of a sender's deinit reach the sender's observers, which then end`
            make A { post from dying }; observe a from A; observe b from A on each; post from A;
            run each -> a1 b1; release A -> a2 ended a active b; run each -> b2 ended b observers 0

        `M5 the end of a sender ends its observers on every center, and no others`
            make A; make B; observe a from A; observe b n1 from A; observe c any from A;
            observe d from A in c1; observe e from B; observe f any from B; observe g from B in c1;
            observe h; release A -> ended abcd active efgh

        `M5 O4 an owner that is also a sender reaches others' observers in its deinit`
            make A { post from dying }; observe a from A of A; observe b from A;
            release A -> b1 ended ab observers 0

        `O2 M5 a sender is not retained, also if the sender owns its observer`
            make A; observe a from A; observe b from A of A; post from A -> a1 b1;
            release A -> released A ended ab observers 0

        `O4 a pending delivery does not run after its owner's end`
            make A; observe a of A on each; post; release A -> released A; run each -> none

        `O11 R3 a token becomes inactive with its owner, and releases the captures`
            make A; observe a of A; release A -> ended a released a; cancel a; post -> none

        `S2 O3 a sequence ends with its unretained owner, and drops its buffer`
            make A; sequence s0 of A; post -> pending 1; release A -> released 1 released A
            observers 0; take s0 -> s0.end

        `S2 M5 a sequence ends with its unretained sender, and never widens`
            make A; make B; sequence s0 from A; release A -> released A observers 0; post 3;
            post from B; take s0 -> s0.end

        `S2 O8 M5 a sequence for an owner or a sender in its deinit ends at once`
            make A { sequence s0 of dying }; make B { sequence s1 from dying }; release A; release B;
            post; take s0; take s1 -> s0.end s1.end observers 0
        """)
}
