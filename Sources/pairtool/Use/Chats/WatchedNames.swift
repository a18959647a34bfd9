import CompanionClient
import CompanionWire
import FoundationEssentials

/// What people call the chats, projects and devices that events name by their ids.
actor WatchedNames {
    private let session: HostSession
    private var chats: [String: String] = [:]
    private var projects: [String: String] = [:]
    private var devices: [String: String] = [:]
    private var askedAt = Date.distantPast

    /// The host is not asked again sooner: many events may come at once.
    private static let pause = 2.0

    init(_ session: HostSession) {
        self.session = session
    }

    /// - Parameter isChanged: Whether it may have another title now.
    func chat(_ id: String, isChanged: Bool) async -> String {
        if isChanged || chats[id] == nil { await ask() }
        return chats[id] ?? "chat \(id.prefix(8))"
    }

    func project(_ id: String, isChanged: Bool) async -> String {
        if isChanged || projects[id] == nil { await ask() }
        return projects[id].map { "project \($0)" } ?? "project \(id.prefix(8))"
    }

    /// The device's name. A device that was revoked is no longer listed, but may have been named before.
    func device(of event: LiveEvent) async -> String? {
        guard let id = event.deviceId else { return event.deviceName }
        if let name = event.deviceName { devices[id] = name }
        return devices[id] ?? "device \(id.prefix(8))"
    }

    /// Reads the names. If the host does not tell them, events are shown with ids.
    private func ask() async {
        let now = session.context.now()
        guard now.timeIntervalSince(askedAt).magnitude >= Self.pause else { return }
        askedAt = now
        if let listed = try? await session.offer.devices?.devices() {
            for device in listed { devices[device.id] = device.name }
        }
        guard let all = try? await session.projects.mergedProjects() else { return }
        for project in all {
            for id in project.ids { projects[id] = project.project.name }
        }
        for item in (try? await session.chats(in: all)) ?? [] where !item.chat.title.isEmpty {
            chats[item.chat.id] = "“\(item.chat.title)” in \(item.project.project.name)"
        }
    }
}
