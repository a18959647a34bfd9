import CProgram

/// `qr FILE -o PICTURE.png [--scale PIXELS]` as it usually goes: from a file to a file. Everything else, whatever may
/// go wrong, and what would have more to be said of it is left to the program with all commands.
struct PictureDrawing {
    private let file: UnsafePointer<CChar>
    private let output: UnsafePointer<CChar>
    private var scale = QRSymbol.usualScale

    /// - Parameter arguments: The program's name and the words behind it.
    /// - Returns: nil for every other command line, those with mistakes among them.
    init?(_ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) {
        guard arguments[0] != nil, let command = arguments[1], strcmp(command, "qr") == 0 else { return nil }
        var file: UnsafePointer<CChar>?
        var output: UnsafePointer<CChar>?
        var words = arguments + 2
        while let word = words.pointee {
            words += 1
            switch true {
            case strcmp(word, "-o") == 0, strcmp(word, "--output") == 0:
                guard output == nil, let name = words.pointee, Self.isOperand(name) else { return nil }
                output = UnsafePointer(name)
                words += 1
            case strcmp(word, "--scale") == 0:
                guard let pixels = words.pointee.flatMap(Self.scale) else { return nil }
                scale = pixels
                words += 1
            case Self.isOperand(word) && file == nil: file = UnsafePointer(word)
            default: return nil
            }
        }
        guard let file, let output, strlen(output) > 4, strcasecmp(output + strlen(output) - 4, ".png") == 0 else {
            return nil
        }
        self.file = file
        self.output = output
    }

    /// Whether a word is no option.
    private static func isOperand(_ word: UnsafePointer<CChar>) -> Bool {
        word.pointee != 0 && word.pointee != CChar(UInt8(ascii: "-"))
    }

    /// - Returns: nil for what is no number of pixels, or not plainly one.
    private static func scale(_ word: UnsafeMutablePointer<CChar>) -> Int? {
        guard strlen(word) <= 2 else { return nil }
        var pixels = 0
        for index in 0..<strlen(word) {
            guard let digit = (0...9).first(where: { CChar(UInt8(ascii: "0")) + CChar($0) == word[index] }) else {
                return nil
            }
            pixels = pixels * 10 + digit
        }
        return QRSymbol.scales.contains(pixels) ? pixels : nil
    }

    /// - Returns: Whether the picture was drawn. If not, nothing has happened yet.
    func run() -> Bool {
        // A file that is opened must not become standard output.
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 { return false }
        guard let name = Self.plainText(output), isReplaceable, let text = text() else { return false }
        do throws(QRCodecError) {
            let picture = try QRSymbol(paper: text).png(scale: scale)
            guard Self.write(picture, to: name) else { return false }
            say("Wrote \(name) (\(picture.count) bytes, readable by you alone).\n")
            return true
        } catch {
            return false
        }
    }

    /// A name that can be shown as it is; nil for one with other characters than ASCII's.
    private static func plainText(_ name: UnsafePointer<CChar>) -> String? {
        for index in 0..<strlen(name) where !(0x20..<0x7F).contains(name[index]) { return nil }
        return String(cString: name)
    }

    /// Whether there is no file yet, or a plain one that may be written to and is not what standard output goes to.
    private var isReplaceable: Bool {
        var (present, standard) = (stat(), stat())
        guard lstat(output, &present) == 0 else { return errno == ENOENT }
        guard present.isRegularFile, faccessat(AT_FDCWD, output, W_OK, AT_EACCESS) == 0 else {
            return false
        }
        return fstat(STDOUT_FILENO, &standard) == 0
            && (present.st_dev, present.st_ino) != (standard.st_dev, standard.st_ino)
    }

    /// The text to draw; nil where it cannot be read at once, is no text of a QR code, or is to be explained.
    private func text() -> [UInt8]? {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.isRegularFile else { return nil }
        // More than any QR code holds: it would be refused.
        var bytes = [UInt8](repeating: 0, count: 4_096)
        guard let count = Self.fill(&bytes, from: descriptor), count > 0, count < bytes.count else { return nil }
        let text = QRSymbol.withoutLineEnd(bytes[..<count])
        // In a terminal it is said what a pairing code holds.
        return isatty(STDERR_FILENO) == 1 && text.contains(UInt8(ascii: "{")) ? nil : text
    }

    /// - Returns: How many bytes there were, at most as many as there is room for; nil where they cannot be read at
    ///   once.
    private static func fill(_ bytes: inout [UInt8], from descriptor: Int32) -> Int? {
        bytes.withUnsafeMutableBytes { room in
            var total = 0
            // Not every file gives all that it has at once: those that the kernel makes up do not.
            while total < room.count {
                let count = read(descriptor, room.baseAddress! + total, room.count - total)
                guard count >= 0 else { return nil }
                guard count > 0 else { break }
                total += count
            }
            return total
        }
    }

    private static func write(_ bytes: [UInt8], to path: String) -> Bool {
        bytes.withUnsafeBytes { bytes in
            do throws(PrivateFile.Failure) {
                try PrivateFile.write(bytes, to: path, makesDirectory: false, isDurable: false)
                return true
            } catch {
                return false
            }
        }
    }
}
