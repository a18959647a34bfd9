import Logging
import Subprocess
import SystemPackage

/// A process beside an agent's command that ends the run's processes if the host itself ends without doing so, as it
/// does by SIGKILL.
///
/// The kernel could kill a child with its parent (PR_SET_PDEATHSIG), but only the child itself can ask for that, and
/// the processes that it has started would stay.
enum AgentGuard {
    /// Waits until its standard input is closed, which the kernel does for a killed host, and then ends all processes
    /// with the run's mark in their environment. It ignores signals of the terminal and of a service manager.
    private static let script = """
        trap '' HUP INT QUIT TERM
        read -r line
        for signal in TERM KILL KILL; do
            for file in $(grep -lszxF -- "$0" /proc/[0-9]*/environ); do
                process=${file#/proc/}
                kill -s $signal ${process%/*}
            done
            sleep 1
        done
        """

    /// Runs until the task is cancelled.
    static func run(over processes: AgentProcesses, logger: Logger) async {
        do {
            // In this session: orphans in another one are taken for an agent's.
            _ = try await Subprocess.run(
                .path("/bin/sh"),
                arguments: ["-c", script, "\(AgentProcesses.variable)=\(processes.mark)"],
                workingDirectory: "/",
                input: .inputWriter,
                output: .sequence,
                error: .discarded
            ) { guardian in
                // It prints nothing: its output ends with it.
                for try await _ in guardian.standardOutput {}
            }
        } catch {
            guard !Task.isCancelled else { return }
            logger.warning("nothing ends the agent's processes if the host is killed", metadata: .failure(error))
        }
    }
}
