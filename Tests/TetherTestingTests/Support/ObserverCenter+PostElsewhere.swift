import Dispatch
import Foundation
import Tether
import XCTest

extension ObserverCenter {
    /// Posts on another thread, and waits for the post.
    func postElsewhere() {
        let posted = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            self.post(name: .modelDidChange, object: nil)
            posted.signal()
        }
        XCTAssertEqual(posted.wait(timeout: .now() + 300), .success)
    }
}
