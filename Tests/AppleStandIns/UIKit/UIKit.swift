// The parts of Apple's module `UIKit` that the code of the pages uses, with Apple's signatures.
// DocumentedCodeTests puts them beside that code.

import Foundation

@MainActor open class UIResponder: NSObject {
    nonisolated public class var keyboardWillChangeFrameNotification: Notification.Name {
        Notification.Name("UIKeyboardWillChangeFrameNotification")
    }

    nonisolated public class var keyboardFrameEndUserInfoKey: String {
        "UIKeyboardFrameEndUserInfoKey"
    }
}

@MainActor open class UIApplication: UIResponder {
    nonisolated public class var didEnterBackgroundNotification: Notification.Name {
        Notification.Name("UIApplicationDidEnterBackgroundNotification")
    }
}

@MainActor open class UIViewController: UIResponder {
    open func viewDidLoad() {}
}
