import CompanionWire
import FoundationEssentials
import Glibc
import LocalState

/// Whether there is a camera that this user has access to.
package struct CameraCheck: DoctorCheck {
    package let name = CheckName.camera
    private let directory: String

    /// - Parameter directory: The directory of the device files. Default: `/dev`.
    package init(directory: String = "/dev") {
        self.directory = directory
    }

    package func findings() -> [Finding] {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [])
            .filter { $0.begins(with: "video") && Int($0.dropFirst(5)) != nil }.sorted()
        let paths = names.map { "\(directory)/\($0)" }
        guard !paths.isEmpty else {
            return [.skipped(.camera, evidence: "there is no camera (\(directory)/video0)", advice: .usePicture)]
        }
        guard let usable = paths.first(where: { access($0, R_OK | W_OK) == 0 }) else {
            let group = FileStatus(paths[0])?.groupName ?? "video"
            return [
                .warning(
                    .camera,
                    about: paths[0],
                    evidence: "only the group \(group) may use it",
                    advice: .joinGroup,
                    values: ["GROUP": group]
                )
            ]
        }
        return [.ok(.camera, about: usable, evidence: "may be used")]
    }
}
