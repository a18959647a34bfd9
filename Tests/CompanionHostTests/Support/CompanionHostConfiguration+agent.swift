import CompanionHost

extension CompanionHostConfiguration {
    /// The agent of a host that has only one.
    var agent: HostAgentKind {
        get { agents[0] }
        set { agents = [newValue] }
    }
}
