import CProgram

/// What every command line begins with. It is Embedded Swift, without a runtime to be started: a picture is drawn in
/// less time than another program would need to start in. Whatever else is wanted, it becomes the program that can do
/// it.
@main enum Main {
    static func main() {
        let arguments = program_arguments()
        // What is drawn may be a pairing code.
        keep_memory_private()
        if let drawing = PictureDrawing(arguments), drawing.run() { exit(EXIT_SUCCESS) }
        DaemonQuery(arguments)?.send()
        Successor.run(arguments)
    }
}
