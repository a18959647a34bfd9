import CZBar
import Glibc

/// Frames from a camera, by zbar's video functions (V4L2).
///
/// It is asked for 1280 × 720 in Motion JPEG, which USB has room for thirty times a second, else for what zbar can make
/// grey.
package struct CameraFrames: FrameSource {
    private let video: Video

    package let isLive = true

    /// Opens a camera and starts it.
    ///
    /// - Parameters:
    ///   - path: Its device, such as `/dev/video0`; `nil` for the first in `directory` that films.
    ///   - directory: Where devices are.
    /// - Throws: ``QRCodecError`` with the code `cameraNotFound`, `cameraBusy`, `cameraDenied`, `notACamera` or
    ///   `cameraFailed`.
    package init(path: String?, directory: String = "/dev") throws(QRCodecError) {
        if let path {
            video = try Video(path: path)
            return
        }
        let paths = Self.devices(in: directory)
        guard !paths.isEmpty else {
            throw QRCodecError(.cameraNotFound, message: "There is no camera: \(directory) has no video device.")
        }
        // Many cameras have a second device, which gives no pictures. One that is busy or forbidden says more than
        // that.
        var failure: QRCodecError?
        for path in paths {
            do throws(QRCodecError) {
                video = try Video(path: path)
                return
            } catch {
                if failure == nil || failure?.code == .notACamera { failure = error }
            }
        }
        throw failure ?? QRCodecError(.cameraNotFound, message: "There is no camera.")
    }

    /// Waits for the next frame; `nil` when `wake` ended the waiting.
    ///
    /// - Throws: ``QRCodecError`` with the code `cameraFailed`, or `cameraNotFound` once the camera is unplugged.
    package mutating func next(_ wake: WakeSignal) throws(QRCodecError) -> Frame? {
        while wake.wait(forInputFrom: video.descriptor) {
            if let frame = try video.next() { return frame }
        }
        return nil
    }

    /// Video devices by number.
    static func devices(in directory: String) -> [String] {
        guard let entries = opendir(directory) else { return [] }
        defer { closedir(entries) }
        var numbers: [Int] = []
        while let entry = readdir(entries) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { name in
                String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix("video"), let number = Int(name.dropFirst(5)) { numbers.append(number) }
        }
        return numbers.sorted().map { "\(directory)/video\($0)" }
    }
}

/// Owns a zbar video that is running.
private final class Video {
    private let video: OpaquePointer
    private let path: String
    private let isJPEG: Bool

    private static let (width, height): (UInt32, UInt32) = (1_280, 720)
    /// The pixel formats of cameras that zbar makes grey, in the order in which they are asked for.
    private static let formats: [String] = [
        "MJPG", "YUYV", "UYVY", "NV12", "NV21", "YU12", "YV12", "422P", "GREY", "RGB3", "BGR3", "RGB4", "BGR4",
    ]
    private static let grey = code("Y800")

    init(path: String) throws(QRCodecError) {
        try Self.check(path)
        zbar_be_silent()
        guard let video = zbar_video_create() else {
            throw QRCodecError(.cameraFailed, message: "There is not enough memory for the camera.")
        }
        do throws(QRCodecError) {
            isJPEG = try Self.start(video, at: path) == "MJPG"
        } catch {
            zbar_video_destroy(video)
            throw error
        }
        (self.video, self.path) = (video, path)
    }

    /// - Returns: The format that the camera gives.
    private static func start(_ video: OpaquePointer, at path: String) throws(QRCodecError) -> String {
        errno = 0
        // Every driver has this way of sharing memory; what zbar tries first, some have and get wrong.
        zbar_video_request_iomode(video, 2)
        zbar_video_request_size(video, width, height)
        guard zbar_video_open(video, path) == 0 else { throw trouble(path, else: .notACamera) }
        // zbar opens it for good, and waits for frames by itself.
        let descriptor = zbar_video_get_fd(video)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        // zbar's own choice of a format needs a window to show it in.
        for format in formats where zbar_video_init(video, code(format)) == 0 {
            errno = 0
            guard zbar_video_enable(video, 1) == 0 else { throw trouble(path, else: .cameraFailed) }
            return format
        }
        throw trouble(path, else: .cameraFailed)
    }

    deinit { zbar_video_destroy(video) }

    /// The descriptor that becomes readable with every frame.
    var descriptor: Int32 { zbar_video_get_fd(video) }

    /// The frame that is there; `nil` where it is not yet.
    func next() throws(QRCodecError) -> Frame? {
        errno = 0
        guard let image = zbar_video_next_image(video) else {
            guard errno != EAGAIN else { return nil }
            throw Self.trouble(path, else: .cameraFailed)
        }
        // This gives the driver its buffer back.
        defer { zbar_image_destroy(image) }
        if isJPEG { return .jpeg(Self.bytes(of: image)) }
        guard let grey = zbar_image_convert(image, Self.grey) else {
            throw QRCodecError(
                .cameraFailed,
                message: "The camera \(path) gives pictures in a format that cannot be read."
            )
        }
        defer { zbar_image_destroy(grey) }
        let (width, height) = (Int(zbar_image_get_width(grey)), Int(zbar_image_get_height(grey)))
        let bytes = Self.bytes(of: grey)
        guard bytes.count >= width * height else {
            throw QRCodecError(.cameraFailed, message: "The camera \(path) gives incomplete pictures.")
        }
        return .grey(QRImage(width: width, height: height, luminance: Array(bytes.prefix(width * height))))
    }

    private static func bytes(of image: OpaquePointer) -> [UInt8] {
        guard let data = zbar_image_get_data(image) else { return [] }
        return Array(UnsafeRawBufferPointer(start: data, count: Int(zbar_image_get_data_length(image))))
    }

    /// zbar's name for a format: four characters, the first in the lowest byte.
    private static func code(_ name: String) -> UInt {
        name.utf8.reversed().reduce(UInt(0)) { $0 << 8 | UInt($1) }
    }

    /// Finds out what can be known without a driver, so that the message says it.
    private static func check(_ path: String) throws(QRCodecError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw error(for: errno, path: path, else: .cameraNotFound) }
        guard status.st_mode & S_IFMT == S_IFCHR else {
            throw QRCodecError(.notACamera, message: "The file \(path) is not a camera: it is not a device.")
        }
        guard access(path, R_OK | W_OK) == 0 else { throw error(for: errno, path: path, else: .cameraDenied) }
    }

    /// Returns the error of zbar's last call. zbar gives the reason as text only, and leaves the number in `errno`.
    private static func trouble(_ path: String, else code: QRCodecError.Code) -> QRCodecError {
        let reason = errno
        // What a driver does not know is asked on purpose.
        return error(for: reason == EINVAL || reason == ENOTTY ? 0 : reason, path: path, else: code)
    }

    private static func error(for reason: Int32, path: String, else code: QRCodecError.Code) -> QRCodecError {
        switch reason {
        case EBUSY: return QRCodecError(.cameraBusy, message: "The camera \(path) is in use by another program.")
        case EACCES, EPERM: return QRCodecError(.cameraDenied, message: "You may not use the camera \(path).")
        case ENOENT: return QRCodecError(.cameraNotFound, message: "There is no camera \(path).")
        case ENODEV, ENXIO:
            return QRCodecError(.cameraNotFound, message: "The camera \(path) is not connected.")
        default: break
        }
        guard code != .notACamera else {
            return QRCodecError(.notACamera, message: "The device \(path) is not a camera, or it cannot record video.")
        }
        let why = reason == 0 ? "" : ": \(String(cString: strerror(reason)))"
        return QRCodecError(code, message: "The camera \(path) cannot be used\(why).")
    }
}
