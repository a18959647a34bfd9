import CompanionWire

/// The last lines of an answer, checked for whether the agent is done.
///
/// Continuing once too often costs one prompt, which asks for the completion mark; stopping too early leaves work
/// undone. So this reports “done” only for a plain statement at the very end, with nothing near it that mentions
/// further work.
struct AnswerClosing {
    private let lines: [String]
    /// The sentences; words are separated by one space, with one space at each end.
    private let sentences: [String]

    init(_ lines: ArraySlice<String>) {
        self.lines = Array(lines)
        sentences = lines.flatMap(Self.sentences)
    }

    /// Whether the completion mark is on a line of its own, and no line after it mentions further work.
    var isMarked: Bool {
        guard let index = lines.lastIndex(where: Self.isMark) else { return false }
        guard !lines[(index + 1)...].flatMap(Self.sentences).contains(where: Self.speaksOfWork) else { return false }
        // After an unfinished line such as “When I am done I will write”, the mark belongs to that sentence.
        guard index > 0, let before = Self.sentences(lines[index - 1]).last else { return true }
        let isOpen = lines[index - 1].unicodeScalars.last.map { !".!?…)*_`".unicodeScalars.contains($0) } ?? true
        return !isOpen || !Self.isHeldBack(before, before: before.endIndex)
    }

    /// Whether one of the last sentences says that everything is done, and none of them mentions further work.
    var saysDone: Bool {
        let closing = sentences.suffix(3)
        guard let index = closing.lastIndex(where: Self.statesCompletion) else { return false }
        return !sentences[..<index].contains(where: Self.speaksOfWork)
            && !closing[(index + 1)...].contains { Self.speaksOfWork($0) || Self.begins($0) }
            && !Self.speaksOfWork(closing[index])
    }

    private static func isMark(_ line: String) -> Bool {
        line.filter { $0.isLetter || $0 == " " }.trimmingWhitespace().uppercased() == AnswerSigns.completionMark
    }

    // MARK: One sentence

    private static let completions = [
        "task is complete", "task is done", "task is finished", "tasks are complete", "tasks are done", "task complete",
        "all done", "everything is done", "everything is complete", "everything is finished", "all tasks are complete",
        "all steps are complete", "all steps are done", "all is done", "work is complete", "work is done",
        "completed successfully", "nothing left to do", "nothing is left to do", "nothing more to do",
        "implementation is complete", "i have completed", "i've completed", "i have finished", "i've finished",
    ]

    private static func statesCompletion(_ sentence: String) -> Bool {
        completions.contains { phrase in
            guard let range = sentence.firstRange(of: " \(phrase) ") else { return false }
            let rest = sentence[sentence.index(before: range.upperBound)...]
            return !isHeldBack(sentence, before: range.lowerBound) && !limits.contains { rest.has(" \($0) ") }
                // “All done with parsing” covers only that part.
                && !rest.begins(with: " with ")
        }
    }

    /// Words before the statement that cancel it: a negation, a condition, or the future tense.
    private static let holds = [
        "not", "never", "nearly", "almost", "when", "once", "until", "till", "if", "unless", "after", "before",
        "as soon as", "will", "would", "should", "might", "must", "going to", "want", "make sure", "ensure", "cannot",
        "isn't", "aren't", "wasn't", "didn't", "don't", "haven't", "hasn't", "won't", "can't", "i'll", "it'll",
        "we'll", "partly", "partially", "mostly", "half", "say", "write", "said", "says",
    ]
    /// Words after the statement that limit it to a part.
    private static let limits = [
        "when", "once", "until", "if", "unless", "after", "except", "but", "however", "so far", "part of", "half",
        "most of", "first", "apart from", "for now", "as soon as", "though", "although",
    ]

    private static func isHeldBack(_ sentence: String, before end: String.Index) -> Bool {
        // Includes the space after the last word, which is part of the phrase.
        let start = sentence[..<end] + " "
        return holds.contains { start.has(" \($0) ") }
    }

    /// Phrases that mention further work, anywhere near the end.
    private static let work = [
        "remain", "remains", "remaining", "still need", "still needs", "still have", "still has", "still to",
        "still missing",
        "still fails", "not finish", "not finished", "not done", "not complete", "not completed", "not all", "not yet",
        "didn't finish", "isn't done", "isn't complete", "isn't finished", "aren't done", "aren't complete",
        "unfinished",
        "incomplete", "to do", "todo", "next step", "next steps", "next i", "next up", "i will", "i'll",
        "i am going to",
        "i'm going to", "then i", "could not", "couldn't", "unable to", "failed", "failing", "fails", "blocked",
        "pending",
        "outstanding", "waiting for", "moving on", "continuing with", "on to step", "haven't", "have not",
    ]
    /// Phrases that contain such words but say the opposite.
    private static let nothing = [
        "nothing remains", "nothing remaining", "nothing left to do", "nothing is left to do", "nothing more to do",
        "nothing to do", "nothing failed", "nothing is pending", "none remain", "none remains", "no failing",
        "0 failed",
        "none failed", "no remaining", "nothing is outstanding", "no pending",
    ]

    private static func speaksOfWork(_ sentence: String) -> Bool {
        var sentence = sentence
        for phrase in nothing { sentence = sentence.replacing(" \(phrase) ", with: " ") }
        return work.contains { sentence.has(" \($0) ") } || countsParts(sentence)
    }

    /// Whether the sentence names a part that is not the last one: “Step 1 of 12”, “3/8 files”.
    private static func countsParts(_ sentence: String) -> Bool {
        let words = sentence.parts(" ")
        for (index, word) in words.enumerated() {
            let parts = word.parts("/", omittingEmpty: false)
            if parts.count == 2, let part = Int(parts[0]), let all = Int(parts[1]), part < all { return true }
            guard index >= 1, index + 1 < words.count, word == "of" else { continue }
            let last = words[index + 1] == "the" && index + 2 < words.count ? words[index + 2] : words[index + 1]
            if let part = Int(words[index - 1]), let all = Int(last), part < all { return true }
        }
        return false
    }

    /// Whether the sentence begins a step: “Now step 2.”
    private static func begins(_ sentence: String) -> Bool {
        [" now ", " next ", " then ", " starting ", " step ", " let me ", " on to ", " first "].contains {
            sentence.begins(with: $0)
        }
    }

    /// The sentences of a line, in lower case.
    private static func sentences(_ line: String) -> [String] {
        var sentences: [String] = []
        var words = " "
        var word = ""
        func endWord() {
            if !word.isEmpty { words += word + " " }
            word = ""
        }
        func endSentence() {
            endWord()
            if words != " " { sentences.append(words) }
            words = " "
        }
        let scalars = Array(line.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            switch scalar {
            case "’", "'": word += "'"
            case "/" where !word.isEmpty: word.unicodeScalars.append(scalar)
            // A point inside a number or a file name does not end a sentence.
            case ".", "!", "?", ";", "。", "！", "？":
                let next = index + 1 < scalars.count ? scalars[index + 1] : " "
                if next.properties.isAlphabetic || next.properties.numericType != nil {
                    word.unicodeScalars.append(scalar)
                } else {
                    endSentence()
                }
            case _ where scalar.properties.isAlphabetic || scalar.properties.numericType != nil:
                word.unicodeScalars.append(scalar)
            default: endWord()
            }
        }
        endSentence()
        return sentences.map { $0.lowercased() }
    }
}
