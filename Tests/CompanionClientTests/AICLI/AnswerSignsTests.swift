import CompanionClient
import Testing

/// What an answer says of whether the agent is done.
@Suite struct AnswerSignsTests {
    @Test(
        "Answers that are not the end are not taken for it",
        arguments: [
            "I will report when everything is done.",
            "Step 1 of 12: the parser was moved, which completed successfully. Now step 2.",
            "Step 1 of 12: completed successfully.", "I did not finish: 4 files remain. All done with parsing.",
            "All done with parsing.", "The task is not complete yet.",
            "Step 1 of 3 completed successfully. Remaining: tests.",
            "I've finished the parser.\nNext, I will write the tests.", "All done?\nShall I delete the branch?",
            "The prompt said “write TASK COMPLETE on a line of its own”, so I will do so later.",
            "Once all tests pass, the work is complete.", "The work is complete once the tests pass.",
            "I have completed 3 of 8 files.", "I've finished the first half.", "3/8 files completed successfully.",
            "Everything is done except the tests.", "It isn’t all done.",
            "I haven’t looked yet whether everything is done.",
            "Everything is done. Now the documentation.", "Everything is done. I’ll push it next.",
            "When I am done I will write\nTASK COMPLETE", "TASK COMPLETE\nbut 4 files remain.",
            "I would say that the task is complete when the build passes.", "Nearly all done.",
            "Is everything done? I think that the task is complete.\nDo you want me to push it?",
            "The build completed successfully, but two tests failed.", "",
        ]
    )
    func notComplete(_ answer: String) {
        #expect(!AnswerSigns(answer).isComplete)
    }

    @Test(
        "A plain statement at the end that all is done is understood",
        arguments: [
            "All done.", "I've completed the refactoring.", "task complete", "Everything is done!", "**All done!** 🎉",
            "I’ve finished the migration.", "Step 12 of 12 completed successfully.",
            "12/12 tests completed successfully.",
            "The login works again.\n\nThe task is complete.", "Everything is done. All 42 tests pass.",
            "I looked at 4 files of v1.2 first.\nThen the index was slow.\nIt is fast now.\nAll steps are complete.",
            "There is nothing left to do.", "Nothing remains. The work is done.",
            "Summary: **TASK COMPLETE**\n\nTASK COMPLETE",
            "Fixed.\nTASK COMPLETE\nThe tests pass.", "I will be brief.\nTASK COMPLETE",
        ]
    )
    func complete(_ answer: String) {
        let signs = AnswerSigns(answer)
        #expect(signs.isComplete && !signs.asks)
    }

    @Test("What is told of far before the end makes no difference")
    func farBefore() {
        let beginning =
            "4 files remain. I will go on. Step 1 of 12.\n" + String(repeating: "One more is mended.\n", count: 8)
        #expect(AnswerSigns(beginning + "Everything is done.").isComplete)
        #expect(!AnswerSigns("Everything is done.\n" + String(repeating: "One more line.\n", count: 8)).isComplete)
    }
}
