/// An object that is closed when the thread exits that made it.
protocol ClosedAtThreadExit: AnyObject, Sendable {
    func close()
}
