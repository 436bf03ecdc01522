import Dispatch
import Foundation
import Tether
import XCTest

extension ObserverCenter {
    /// Posts on another thread, and waits for that.
    func postElsewhere() {
        let posted = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            self.post(name: .modelDidChange, object: nil)
            posted.signal()
        }
        XCTAssertEqual(posted.wait(timeout: .now() + 300), .success)
    }

    /// Posts on another thread when this one may be expected to wait for that.
    func postSoon(_ name: Notification.Name) {
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 0.05)
            self.post(name: name, object: nil)
        }
    }
}
