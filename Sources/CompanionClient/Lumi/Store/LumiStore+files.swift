extension FamilyFiles {
    /// What ``LumiStore`` keeps.
    package static let lumi = FamilyFiles(directory: "lumi") { data, host in
        let store = LumiStore(directory: "\(data)/lumi/\(host)")
        return store.damagedPulledFiles().map { Damage($0, canBePulledAgain: true) }
            + store.damagedLocalFiles().map { Damage($0) }
    }
}
