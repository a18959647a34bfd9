/// The link references that were defined in the text so far.
///
/// A block that was written is not written again: a link whose definition comes later, in another block, is shown as it
/// stands in the text (`[text][name]`), and so is one whose definition has several lines.
struct LinkDefinitions {
    private var lines: [[UInt8]: [UInt8]] = [:]

    private static let mostDefinitions = 1000
    private static let mostBytes = 2048
    private static let mostUsed = 32

    /// Adds the definitions at the beginning of a paragraph. The first of several with one name counts.
    ///
    /// `[Note]: two words` is a line of text: a line is a definition if cmark leaves nothing of it to be shown.
    mutating func add(from paragraph: [UInt8]) {
        for line in paragraph.split(separator: UInt8(ascii: "\n")) {
            guard let (name, end) = Self.name(in: line, at: line.startIndex), lines.count < Self.mostDefinitions,
                line.count <= Self.mostBytes, end < line.endIndex, line[end] == UInt8(ascii: ":"),
                ParsedDocument(Array(line)).isEmpty
            else { return }
            if lines[name] == nil { lines[name] = Array(line) + [UInt8(ascii: "\n")] }
        }
    }

    /// The definitions that a block may refer to, and an empty line.
    func used(by block: [UInt8]) -> [UInt8] {
        guard !lines.isEmpty else { return [] }
        var (result, names) = ([UInt8](), Set<[UInt8]>())
        var place = block.startIndex
        while names.count < Self.mostUsed, let begin = block[place...].firstIndex(of: UInt8(ascii: "[")) {
            place = begin + 1
            guard let (name, _) = Self.name(in: block[...], at: begin), let line = lines[name],
                names.insert(name).inserted
            else { continue }
            result += line
        }
        return result.isEmpty ? [] : result + [UInt8(ascii: "\n")]
    }

    /// The name in brackets as it is compared, and where it ends.
    private static func name(in text: ArraySlice<UInt8>, at begin: Int) -> (name: [UInt8], end: Int)? {
        guard text[begin] == UInt8(ascii: "[") else { return nil }
        var name: [UInt8] = []
        for place in text.indices[(begin + 1)...].prefix(200) {
            switch text[place] {
            case UInt8(ascii: "["): return nil
            case UInt8(ascii: "]"):
                if name.last == UInt8(ascii: " ") { name.removeLast() }
                return name.isEmpty ? nil : (name, place + 1)
            case 0...0x20:
                if !name.isEmpty, name.last != UInt8(ascii: " ") { name.append(UInt8(ascii: " ")) }
            case let byte where byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z"): name.append(byte | 0x20)
            case let byte: name.append(byte)
            }
        }
        return nil
    }
}
