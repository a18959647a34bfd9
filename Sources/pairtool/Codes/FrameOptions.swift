import ArgumentParser
import CompanionApp
import CompanionWire

/// Options for a sequence of frames, from a camera or a stream.
struct FrameOptions: ParsableArguments {
    /// The word for the first camera.
    private static let anyCamera = "any"

    @Option(
        defaultAsFlag: FrameOptions.anyCamera,
        parsing: .next,
        help: ArgumentHelp("Look through a camera, such as /dev/video0. Default: the first one.", valueName: "device"),
        completion: .file()
    )
    var camera: String?

    @Option(
        help: ArgumentHelp(
            "Read the frames of a video (YUV4MPEG2, or JPEG files one after another); - for standard input.",
            valueName: "file"
        ),
        completion: .file(extensions: ["y4m", "mjpeg", "mjpg"])
    )
    var frames: String?

    func validate() throws {
        if camera != nil, frames != nil { throw ValidationError("--camera and --frames cannot be used together.") }
        if let camera, camera != Self.anyCamera, !camera.has("/") {
            throw ValidationError("--camera needs a device such as /dev/video0: “\(camera)” is not one.")
        }
    }

    /// The requested input, if any.
    var input: FrameInput? {
        if let camera { return .camera(camera == Self.anyCamera ? nil : camera) }
        return frames.map(FrameInput.stream)
    }
}
