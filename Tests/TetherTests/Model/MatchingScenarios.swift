extension Scenario {
    /// Rows about names, senders, keys and removals.
    static let matching = rows(
        """
        `F1 M1 M2 a post reaches each observer that matches once, and no other`
            make A; make B; observe a from A; observe b; observe c any from A; observe d any;
            post from A -> a1 b1 c1 d1; post from B -> b2 d2; post -> b3 d3;
            post n1 from A -> c4 d4; post n1 -> d5

        `M3 all kinds of observers are called in the order of registration`
            make A; observe a any; observe b any from A; observe c; observe d from A; observe e any;
            observe f; post from A -> a1 b1 c1 d1 e1 f1; cancel b; cancel c; observe c any from A;
            post from A -> a2 d2 e2 f2 c2

        `M6 posts that match nobody do nothing, and a registration alone calls nothing`
            make A; post; post in c1; observe a; observe b any; observe c from A -> none; remove;
            post from A -> none

        `M7 the same registration made several times is as many observers`
            observe a; observe b; observe c; post -> a1 b1 c1; cancel b; post -> a2 c2

        `M7 different keys, centers and owners do not meet`
            make A; make B; observe a key v0; observe b key v1; observe c key v3; observe d; observe e;
            observe f of A key v0; observe g of B key v0; observe h of B; observe i key v0 in c1;
            observe j of A key v0 in c1 -> active abcdefghij;
            observe k n1 of A key v0 -> active abcdeghij ended f

        `F1 M7 a key has one live observer for each center and owner`
            make A; observe a key v0; observe b any key v0; observe c key v0; observe d of A key v0;
            observe e of A key v0; observe f key v1 -> ended abd active cef observers 3; post -> c1 e1 f1

        `M7 a post under way that has not reached a replaced observer calls neither`
            observe a once { observe c key v0 }; observe b key v0; post -> a1; post -> c2

        `M7 a key is free once its observer is cancelled, has run once or lost its owner`
            make A; observe a key v0; cancel a; observe b once key v0; post -> b1;
            observe c of A key v0; release A -> ended abc observers 0; observe d key v0 -> active d

        `M8 R9 a token of one center given to another changes nothing on either`
            observe a; observe b in c1; removeObserver a in c1; removeObserver a n0 in c1;
            removeObserver b; post; post in c1 -> a1 b2 active ab

        `R9 bulk removal ends the observers that match every part, and no other`
            make A; make B; make C; make D; observe a from A of C; observe b n1 from A of C;
            observe c any from A of C; observe d from B of C; observe e of C; observe f from A of D;
            observe g from A; observe h; observe i any;
            [ remove -> ended abcdefghi
            | remove n0 -> ended adefgh active bci
            | remove from A -> ended abcfg active dehi
            | remove of C -> ended abcde active fghi
            | remove n0 from A -> ended afg active bcdehi
            | remove n0 of C -> ended ade active bcfghi
            | remove from A of C -> ended abc active defghi
            | remove n0 from A of C -> ended a active bcdefghi
            | removeObserver C -> ended abcde active fghi
            | removeObserver C n0 -> ended ade active bcfghi
            | removeObserver C from A -> ended abc active defghi
            | removeObserver C n0 from A -> ended a active bcdefghi ]

        `R9 a token is removed for a name and sender only if it was registered for them`
            make A; make B; observe a from A; removeObserver a n1; removeObserver a from B;
            removeObserver a n0 from B; removeObserver a n0 from v3 -> active a;
            removeObserver a n0 from A -> ended a; observe b from v0 foundation;
            removeObserver b n0 from v1 -> active b; removeObserver b from v0 -> ended b

        `R9 removing by the parts of no observer changes nothing`
            make A; observe a; removeObserver A; remove n1; remove from A; remove of A -> active a

        `Q3 a mask removes the equal notifications from a posting queue`
            make A; observe a any; enqueue asap; enqueue from A asap; enqueue from v0 asap;
            enqueue n1 idle; enqueue n1 from v0 idle;
            [ enqueue asap by-name; flush -> a6 a4 a5
            | enqueue asap by-sender; flush -> a2 a3 a6 a5
            | enqueue from v0 idle by-sender; flush -> a1 a2 a4 a6
            | enqueue from A asap by-both; flush -> a1 a3 a6 a4 a5
            | enqueue asap; flush -> a1 a2 a3 a6 a4 a5
            | enqueue now by-name; enqueue now by-name -> a6 a7; flush -> a4 a5
            | dequeue by-name; flush -> a4 a5
            | dequeue n1 by-sender; flush -> a2 a3 a5
            | dequeue n1 from v0 by-both; flush -> a1 a2 a3 a4 ]

        `X3 Q3 a queued notification has no object that is being deinitialised`
            make A { enqueue from dying asap by-both }; make B { enqueue from dying asap by-both };
            make C { enqueue from dying asap by-both }; observe a; release A; release B;
            enqueue asap by-both; release C; enqueue n1 asap; [flush -> a1 a2 a3 a4
            | enqueue asap by-name; flush -> a6]
        """)
}
