import Base
import Store

/// A run as JUnit XML, which build servers can display: each vehicle is a test case.
///
/// Only an error on a vehicle that answered is a failure. A vehicle that was absent or had to wait
/// is skipped, with the reason.
package enum JUnitReport {
    package static func text(_ story: RunStory) -> String {
        let vehicles = story.vehicles
        let name = Markup.text(story.start?.rollout ?? "rollout")
        let tallies = VehicleCounts(vehicles.map { $0.verdict?.outcome })
        let (failures, errors) = (tallies.count(.failed), tallies.count(.aborted))
        let skipped = vehicles.count { $0.fate == .skipped }
        let took = story.end.map { Markup.seconds($0.run.took) } ?? "0"
        let counts =
            "tests=\"\(vehicles.count)\" failures=\"\(failures)\" errors=\"\(errors)\" "
            + "skipped=\"\(skipped)\" time=\"\(took)\""
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        text += "<testsuites name=\"yardmaster\" \(counts)>\n"
        text += "  <testsuite name=\"\(name)\" \(counts)"
        if let began = story.began { text += " timestamp=\"\(began.description)\"" }
        text += ">\n"
        text += properties(of: story.images)
        for vehicle in vehicles { text += testCase(vehicle, name) }
        return text + "  </testsuite>\n</testsuites>\n"
    }

    /// The origin and the signers of each image, with one property for each sentence.
    private static func properties(
        of images: [(name: String, size: ByteCount, provenance: [String])]
    ) -> String {
        let sentences = images.flatMap { image in image.provenance.map { (image.name, $0) } }
        guard !sentences.isEmpty else { return "" }
        let lines = sentences.map { name, sentence in
            "      <property name=\"image \(Markup.text(name))\" "
                + "value=\"\(Markup.text(sentence))\"/>\n"
        }
        return "    <properties>\n" + lines.joined() + "    </properties>\n"
    }

    private static func testCase(_ vehicle: VehicleInRun, _ rollout: String) -> String {
        let took = vehicle.verdict.map { Markup.seconds($0.took) } ?? "0"
        var text =
            "    <testcase classname=\"\(rollout)\" name=\"\(Markup.text(vehicle.id.text))\" "
            + "time=\"\(took)\">\n"
        text += properties(vehicle)
        let message = Markup.text(vehicle.sentence)
        switch vehicle.fate {
        case .passed: break
        case .failure:
            let kind = vehicle.verdict?.failure?.rawValue ?? vehicle.verdict?.outcome.rawValue
            text += "      <failure type=\"\(kind ?? "failed")\" message=\"\(message)\"/>\n"
        case .error: text += "      <error type=\"aborted\" message=\"\(message)\"/>\n"
        case .skipped: text += "      <skipped message=\"\(message)\"/>\n"
        }
        return text + "    </testcase>\n"
    }

    private static func properties(_ vehicle: VehicleInRun) -> String {
        let pairs: [(String, String?)] = [
            ("serial", vehicle.serial?.text),
            ("outcome", vehicle.name),
            ("version-before", vehicle.verdict?.versionBefore?.description),
            ("version-after", vehicle.verdict?.versionAfter?.description),
        ]
        var text = "      <properties>\n"
        for case (let name, let value?) in pairs {
            text += "        <property name=\"\(name)\" value=\"\(Markup.text(value))\"/>\n"
        }
        return text + "      </properties>\n"
    }
}

extension VehicleInRun {
    fileprivate enum Fate {
        case passed, failure, error, skipped
    }

    fileprivate var fate: Fate {
        switch verdict?.outcome.tally {
        case .ok, .current: .passed
        case .failed: .failure
        case .aborted: .error
        case .deferred, .unreachable, .skipped, nil: .skipped
        }
    }
}
