/// What the project explorer says about itself.
enum BuiltinText {
    static let commands = """
        - `list [DIR]`: the files of a directory
        - `tree [DIR] [DEPTH]`: a directory and what is below it
        - `find NAME` or `find *.swift`: files by name
        - `search TEXT`: lines of files that contain the text
        - `show FILE`, `show FILE:10-20`: a file, or some of its lines
        - `log [N]`: the latest commits
        - `help`: this list
        """

    static let help = """
        I am the project explorer: I read this project's files, without a language model, and change nothing.

        \(commands)

        """

    /// The answer when its tools are not allowed.
    static func denied(_ command: BuiltinCommand, missing: [BuiltinAgent.Tool]) -> String {
        let names = missing.map { "`\($0.rawValue)`" }.joined(separator: " and ")
        let options = missing.map { "--allow-tool \($0.rawValue)" }.joined(separator: " ")
        let need = "\(names), which this prompt does not allow"
        let opening =
            command == .about
            ? "I am the project explorer. To look at the project I need \(need)."
            : "I did nothing: this needs \(need)."
        return """
            \(opening) Send it again with `\(options)`. All my tools only read, and only inside the project.

            With the tools allowed I understand:

            \(commands)

            """
    }
}
