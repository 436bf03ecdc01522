#if canImport(Glibc) || canImport(Musl)
import Dispatch
import Foundation

/// Reports every new file of a folder, on a queue of its own. This form uses inotify.
final class FolderWatcher {
    private let source: any DispatchSourceRead

    init(_ folder: URL, appeared: @escaping @Sendable (String) -> Void) {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK))
        guard
            unsafe inotify_add_watch(
                descriptor, folder.path, UInt32(IN_CREATE) | UInt32(IN_MOVED_TO)) >= 0
        else {
            fatalError("\(folder.path) cannot be watched: errno \(errno).")
        }
        source = DispatchSource.makeReadSource(
            fileDescriptor: descriptor, queue: DispatchQueue(label: "inotify"))
        source.setEventHandler { FolderWatcher.names(from: descriptor).forEach(appeared) }
        source.setCancelHandler { close(descriptor) }
        source.activate()
    }

    func stop() { source.cancel() }

    /// The names in the pending events. An event is a header and a name. The header's last word is
    /// the length of the name.
    private static func names(from descriptor: Int32) -> [String] {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        var (names, offset): ([String], Int) = ([], 0)
        let header = MemoryLayout<inotify_event>.size
        while offset + header <= count {
            let length = unsafe bytes.withUnsafeBytes {
                unsafe Int($0.loadUnaligned(fromByteOffset: offset + header - 4, as: UInt32.self))
            }
            let name = bytes[(offset + header)..<(offset + header + length)].prefix { $0 != 0 }
            names.append(String(decoding: name, as: UTF8.self))
            offset += header + length
        }
        return names
    }
}
#endif
