/// An element of at most one `UnorderedList`, which alone changes its place.
protocol UnorderedListElement: AnyObject {
    var place: Int { get set }
}
