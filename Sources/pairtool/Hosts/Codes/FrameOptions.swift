import ArgumentParser
import CompanionWire

/// Pictures that follow one another: from a camera, or as a stream.
struct FrameOptions: ParsableArguments {
    /// What stands for the first camera that there is.
    private static let anyCamera = "any"

    @Option(
        defaultAsFlag: FrameOptions.anyCamera,
        parsing: .next,
        help: "Look through a camera, for example /dev/video0; without a device, through the first one.",
        completion: .file()
    )
    var camera: String?

    @Option(
        help: "Look at the frames of a video, YUV4MPEG2 or JPEG files one after another; - for standard input.",
        completion: .file(extensions: ["y4m", "mjpeg", "mjpg"])
    )
    var frames: String?

    func validate() throws {
        if camera != nil, frames != nil { throw ValidationError("--camera and --frames exclude each other.") }
        if let camera, camera != Self.anyCamera, !camera.has("/") {
            throw ValidationError("--camera takes a device such as /dev/video0, and “\(camera)” is none.")
        }
    }

    /// What was asked for, if anything.
    var input: FrameInput? {
        if let camera { return .camera(camera == Self.anyCamera ? nil : camera) }
        return frames.map(FrameInput.stream)
    }
}
