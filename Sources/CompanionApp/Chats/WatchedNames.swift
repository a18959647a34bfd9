import CompanionClient
package import CompanionWire
import FoundationEssentials

/// Looks up the names of the chats, projects and devices that events name by their ids.
package actor WatchedNames {
    private let session: HostSession
    private var chats: [ByteText: String] = [:]
    private var projects: [MergedProject] = []
    private var devices: [ByteText: String] = [:]
    /// When each list was read last.
    private var readAt: [ByteText: Date] = [:]

    /// A list is not read again sooner: many events may come at once.
    private static let pause = 2.0

    package init(_ session: HostSession) {
        self.session = session
    }

    /// - Parameter isChanged: Whether it may have another title now.
    package func chat(_ id: String, in projectID: String?, isChanged: Bool) async -> String {
        if isChanged || chats[ByteText(id)] == nil { await readChats(of: projectID) }
        return chats[ByteText(id)] ?? "chat \(id.shortID)"
    }

    package func project(_ id: String, isChanged: Bool) async -> String {
        if isChanged || named(id) == nil { await readProjects() }
        return named(id).map { "project \($0.project.name)" } ?? "project \(id.shortID)"
    }

    /// The device's name. A device that was revoked is no longer listed, but may have been named before.
    package func device(of event: LiveEvent) async -> String? {
        guard let id = event.deviceId else { return event.deviceName }
        if let name = event.deviceName { devices[ByteText(id)] = name }
        if devices[ByteText(id)] == nil { await readDevices() }
        return devices[ByteText(id)] ?? "device \(id.shortID)"
    }

    // MARK: The host's lists. If the host does not tell them, events are shown with ids.

    private func named(_ projectID: String) -> MergedProject? {
        projects.first { $0.ids.contains { $0.isSame(as: projectID) } }
    }

    private func isDue(_ list: String) -> Bool {
        let (now, list) = (session.environment.now(), ByteText(list))
        guard now.timeIntervalSince(readAt[list] ?? .distantPast).magnitude >= Self.pause else { return false }
        readAt[list] = now
        return true
    }

    private func readDevices() async {
        guard isDue("devices"), let listed = try? await session.offer.devices?.devices() else { return }
        for device in listed { devices[ByteText(device.id)] = device.name }
    }

    private func readProjects() async {
        guard isDue("projects"), let listed = try? await session.projects.mergedProjects() else { return }
        projects = listed
    }

    /// Reads the chats of a project; of all, if the host does not say which it is.
    private func readChats(of projectID: String?) async {
        if projectID.flatMap(named) == nil { await readProjects() }
        let project = projectID.flatMap(named)
        guard isDue("chats \(project?.id ?? "")") else { return }
        for item in (try? await session.chats(in: project.map { [$0] } ?? projects)) ?? []
        where !item.chat.title.isEmpty {
            chats[ByteText(item.chat.id)] = "“\(item.chat.title)” in \(item.project.project.name)"
        }
    }
}
