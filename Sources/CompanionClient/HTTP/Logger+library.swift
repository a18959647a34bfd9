package import Logging

extension Logger {
    /// What the HTTP library may log with. At `trace` it writes every part of an answer, and prompts, answers and
    /// tokens are in them.
    package var withoutBodies: Logger {
        var logger = self
        logger.logLevel = max(logLevel, .debug)
        return logger
    }
}
