/// Texts in which the project explorer explains itself.
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
}
