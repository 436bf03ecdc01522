import CTestLimits
import Foundation

/// The stacks of the process's threads.
enum Stacks {
    struct Frame {
        let image: String
        let offset: UInt
        /// The nearest exported symbol of the image.
        let symbol: String?
    }

    static func describeAll() -> String {
        #if os(Linux)
        // SAFETY: the C calls only ask for the calling thread's number, and where others stand.
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task"))?
            .compactMap(Int32.init)
        let stacks = (threads ?? []).sorted().filter { $0 != tether_current_thread() }.map {
            ($0, frames(of: $0))
        }
        let names = symbolicate(stacks.flatMap(\.1))
        var text = ""
        var next = 0
        for (thread, frames) in stacks {
            text += "\nThread \(thread) \(name(of: thread)):\n"
            if frames.isEmpty { text += "    it does not answer\n" }
            for frame in frames {
                text +=
                    "    \(names?[next] ?? frame.symbol ?? "\(frame.image)+0x\(String(frame.offset, radix: 16))")\n"
                next += 1
            }
        }
        return text
        #else
        return "    this platform has no way to tell\n"
        #endif
    }

    #if os(Linux)
    private static func name(of thread: Int32) -> String {
        let name = try? String(contentsOfFile: "/proc/self/task/\(thread)/comm", encoding: .utf8)
        return name?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    }

    private static func frames(of thread: Int32) -> [Frame] {
        var addresses = [UInt](repeating: 0, count: Int(TETHER_FRAMES))
        // SAFETY: no more addresses are written than there is room for.
        let count = unsafe addresses.withUnsafeMutableBufferPointer {
            unsafe tether_thread_stack(thread, $0.baseAddress!, $0.count)
        }
        // The first frames are the signal handler and the kernel's frame.
        return addresses.prefix(count).dropFirst(2).compactMap(frame)
    }

    private static func frame(_ address: UInt) -> Frame? {
        // SAFETY: the strings live as long as the image.
        let place = unsafe tether_place_of(address)
        guard let image = unsafe place.image else { return nil }
        let symbol = unsafe place.symbol.map { unsafe String(cString: $0) }
        // A return address is behind the call.
        return unsafe Frame(
            image: String(cString: image), offset: address - 1 - place.base,
            symbol: symbol.map(demangle))
    }

    /// Names, files and lines by the toolchain's `llvm-symbolizer`; `nil` where there is none.
    private static func symbolicate(_ frames: [Frame]) -> [String]? {
        guard let tool, !frames.isEmpty else { return nil }
        let input = frames.map { "\"\($0.image)\" 0x\(String($0.offset, radix: 16))\n" }.joined()
        let file =
            NSTemporaryDirectory() + "tether-frames-\(ProcessInfo.processInfo.processIdentifier)"
        guard FileManager.default.createFile(atPath: file, contents: Data(input.utf8)) else {
            return nil
        }
        defer { try? FileManager.default.removeItem(atPath: file) }
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: tool)
        process.arguments = [
            "--no-inlines", "--output-style=GNU", "--pretty-print", "--functions=linkage",
        ]
        process.standardInput = FileHandle(forReadingAtPath: file)
        process.standardOutput = output
        guard (try? process.run()) != nil else { return nil }
        let text = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let lines = text.split(separator: "\n").map { line in
            guard let end = line.range(of: " at ") else { return String(line) }
            return demangle(String(line[..<end.lowerBound])) + line[end.lowerBound...]
        }
        return lines.count == frames.count ? lines : nil
    }

    static var hasSymbolizer: Bool { tool != nil }

    /// Beside the compiler, because the library is a part of the runtime.
    private static let tool: String? = {
        guard let library = frame(UInt(bitPattern: ObjectIdentifier(Int.self)) + 1)?.image else {
            return nil
        }
        let path = URL(fileURLWithPath: library).resolvingSymlinksInPath()
            .deletingLastPathComponent()
            .appendingPathComponent("../../../bin/llvm-symbolizer").standardized.path
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }()

    private static func demangle(_ name: String) -> String {
        // SAFETY: a C string that the runtime allocated, or none; freed here.
        guard let readable = unsafe demangled(name, UInt(name.utf8.count), nil, nil, 0) else {
            return name
        }
        defer { unsafe free(readable) }
        return unsafe String(cString: readable)
    }
    #endif
}

#if os(Linux)
@_silgen_name("swift_demangle")
private func demangled(
    _ name: UnsafePointer<CChar>, _ count: UInt, _ buffer: UnsafeMutablePointer<CChar>?,
    _ size: UnsafeMutablePointer<UInt>?, _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?
#endif
