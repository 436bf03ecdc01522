// Tether's part of Apple's module `ObjectiveC`, with Apple's names and types.
//
// SAFETY: objects are passed as addresses for the length of a call, and the caller retains them
// meanwhile.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, TypeNamesShouldBeCapitalized

public import Foundation
public import ObjectiveCRuntime

public typealias Selector = runtime_selector
public typealias IMP = OpaquePointer

public enum objc_AssociationPolicy: UInt, Sendable {
    case OBJC_ASSOCIATION_ASSIGN = 0
    case OBJC_ASSOCIATION_RETAIN_NONATOMIC = 1
    case OBJC_ASSOCIATION_COPY_NONATOMIC = 3
    case OBJC_ASSOCIATION_RETAIN = 0x301
    case OBJC_ASSOCIATION_COPY = 0x303
}

private func address(_ object: Any) -> UnsafeMutableRawPointer {
    Unmanaged.passUnretained(object as AnyObject).toOpaque()
}

public func objc_setAssociatedObject(
    _ object: Any, _ key: UnsafeRawPointer, _ value: Any?, _ policy: objc_AssociationPolicy
) {
    runtime_associate(address(object), key, value.map(address), policy.rawValue)
}

public func objc_getAssociatedObject(_ object: Any, _ key: UnsafeRawPointer) -> Any? {
    runtime_associated(address(object), key).map {
        Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue()
    }
}

public func object_getClass(_ object: Any?) -> AnyClass? {
    object.map { type(of: $0 as AnyObject) }
}

public func sel_registerName(_ name: UnsafePointer<CChar>) -> Selector {
    runtime_register_name(name)
}

public func class_getMethodImplementation(_ type: AnyClass?, _ name: Selector) -> IMP? {
    type == nil ? nil : runtime_find_method(name).map { unsafeBitCast($0, to: IMP.self) }
}

public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result {
    let pool = runtime_push_pool()
    defer { runtime_pop_pool(pool) }
    return try body()
}
