import Discovery
import Testing

@testable import CommandCore

@Suite struct DiscoverySurveyTests {
    @Test("What kept one engine from all hosts is not said of the one that takes its place")
    func otherEngine() {
        var survey = DiscoverySurvey(engine: .daemon)
        survey.take(.incomplete(.engineFull(limit: 4, used: 3)))
        survey.take(.resumed(.daemon))
        #expect(survey.incomplete.count == 1)
        survey.take(.resumed(.embedded))
        #expect(survey.incomplete.isEmpty && survey.engine == .embedded)
    }
}
