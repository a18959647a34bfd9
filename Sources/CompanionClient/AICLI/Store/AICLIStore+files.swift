extension FamilyFiles {
    /// What ``AICLIStore`` keeps.
    package static let aicli = FamilyFiles(directory: "aicli") { data, host in
        AICLIStore(data: data, hostID: host).damagedFiles().map { Damage($0) }
    }
}
