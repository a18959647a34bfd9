import FoundationEssentials
import GRDB

/// A chat as it is stored. Of the chats with an id there is one.
struct ChatRecord: HostRecord {
    static let databaseTableName = "chat"

    var key: Int64?
    var id: String
    /// The id of its project.
    var project: String
    /// Empty for a chat without a prompt and without a title of its own.
    var title: String
    var updatedAt: Date
    /// The id of the model that answered last.
    var model: String?
    /// The name of the mode that its agent reported last.
    var mode: String?
    /// How many messages it has.
    var messages = 0
    /// The id of the device whose draft it is, on no list until its first prompt; nil for no draft.
    var draftOf: String?
}
