/// A queue that posts to a center later, as the center's audit sees it.
protocol LatePoster: AnyObject, Sendable {
    /// Its number in the center's ledger.
    var number: PostingLedger.Number { get }
    /// The name of the thread or the dispatch queue that will post.
    var place: String { get }
    /// How many notifications wait in it.
    var counts: (asap: Int, whenIdle: Int) { get }
}
