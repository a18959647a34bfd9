import CProgram

/// The system's number of what went wrong last.
var errno: Int32 { last_error() }

/// Opens a file, and makes none.
///
/// - Returns: A descriptor, or -1.
func open(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { open_file(path, flags) }

func fcntl(_ descriptor: Int32, _ command: Int32, _ value: Int32 = 0) -> Int32 {
    control_file(descriptor, command, value)
}

extension stat {
    var isRegularFile: Bool { st_mode & UInt32(S_IFMT) == UInt32(S_IFREG) }
}

/// Writes to standard error, as far as anybody reads it.
func say(_ text: String) {
    ignore_closed_pipes()
    var text = text
    text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
