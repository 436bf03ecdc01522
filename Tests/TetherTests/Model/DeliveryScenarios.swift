extension Scenario {
    /// Rows about targets, pending deliveries, muting and bounds.
    static let delivery = rows(
        """
        `D1 a post calls its observers in the order of registration`
            observe a; observe b; post 2 -> a1 b1 a2 b2

        `D9 unmuting puts the kept notification behind pending and before later ones`
            observe a on each; post; mute a newest; post 2; unmute a; post; run each -> a1 a3 a4

        `D9 R7 a post dropped while muted does not use up a once observer`
            observe a on each once; mute a; post 3; run each -> none dropped 3; unmute a;
            post 2; run each -> a4 ended a

        `D8 a bound of the oldest drops new notifications`
            observe a on each; bound a oldest-3; post 5 -> pending 3 dropped 2; run each -> a1 a2 a3;
            post 2; run each -> a6 a7

        `D8 a bound that is set later drops at once`
            observe a on each; post 10; bound a newest-1 -> pending 1 dropped 9 released 9 holds 10;
            run each -> a10

        `D6 posts before a switch are delivered on the new target, before later posts`
            observe a on each; post 2; move a to immediate -> a1 a2; post; run each -> a3

        `R1 R8 no pending delivery is made after a cancellation`
            observe a on each; post 2; cancel a -> released a released 1 released 2 ended a;
            run each; post -> none

        `R11 finishing makes the pending deliveries and takes no post`
            observe a on each; post 2; finish a; post; run each -> a1 a2 ended a
        """)
}
