#if !canImport(Glibc) && !canImport(Musl)
import Dispatch
import Foundation

/// Reports every new file of a folder, on a queue of its own. This form uses a dispatch source,
/// which reports a change of the folder without the file's name.
final class FolderWatcher {
    private let source: any DispatchSourceFileSystemObject

    init(_ folder: URL, appeared: @escaping @Sendable (String) -> Void) {
        let descriptor = open(folder.path, O_EVTONLY)
        guard descriptor >= 0 else {
            fatalError("\(folder.path) cannot be watched: errno \(errno).")
        }
        source = DispatchSource.makeFileSystemObjectSource(
            fileDescriptor: descriptor, eventMask: .write, queue: DispatchQueue(label: "folder"))
        // SAFETY: after this line used on the source's queue only.
        nonisolated(unsafe) var known = FolderWatcher.names(in: folder)
        source.setEventHandler {
            let names = FolderWatcher.names(in: folder)
            unsafe names.subtracting(known).sorted().forEach(appeared)
            unsafe known = names
        }
        source.setCancelHandler { close(descriptor) }
        source.activate()
    }

    func stop() { source.cancel() }

    private static func names(in folder: URL) -> Set<String> {
        Set((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
    }
}
#endif
