internal import CoreFoundation

extension CFRunLoop {
    /// The date of the current mode's first timer, if that is due, as it is while it fires, too. To be asked for on the loop's
    /// own thread.
    var dateOfDueTimer: CFAbsoluteTime? {
        guard let mode = CFRunLoopCopyCurrentMode(self), case let date = CFRunLoopGetNextTimerFireDate(self, mode),
            date != 0, date <= CFAbsoluteTimeGetCurrent()
        else { return nil }
        return date
    }
}
