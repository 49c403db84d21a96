import Foundation
import Nights

// Plays stories from seeds: nights [--gateways] COUNT SEED STEP [--first], or nights [--gateways]
// --story FILE…; or prints stories: nights [--gateways] --text SEED….
//
// Plays every STEP-th seed from SEED on, so that several processes can share the work. Prints each
// broken promise with its seed and the smallest story found that breaks it, and at the end a line
// for each cell of the coverage; with --first it ends at the first broken promise, without a
// smaller story. Ends with 1 when a promise was broken.

private func say(_ text: String) {
    FileHandle.standardOutput.write(Data((text + "\n").utf8))
}

private func live() throws -> Bool {
    var arguments = CommandLine.arguments.dropFirst()
    if arguments.first == "--gateways" {
        arguments = arguments.dropFirst()
        return try live(arguments, FleetNightStory.self)
    }
    return try live(arguments, NightStory.self)
}

private func live<Story: Nights.Story>(
    _ arguments: ArraySlice<String>,
    _ kind: Story.Type
) throws -> Bool {
    if arguments.first == "--story" {
        var isWell = true
        for path in arguments.dropFirst() {
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let result = try Story(text: text).live()
            for line in result.trace { say(line) }
            for line in result.told { say("told\t\(line)") }
            for broken in result.broken { say("broken\t\(broken)") }
            isWell = isWell && result.broken.isEmpty
        }
        return isWell
    }
    if arguments.first == "--text" {
        for seed in arguments.compactMap({ UInt64($0) }) { say(Story(seed: seed).text) }
        return true
    }
    let isFirstEnough = arguments.contains("--first")
    let numbers = arguments.compactMap { UInt64($0) }
    guard numbers.count == 3, numbers[2] > 0 else {
        say("nights [--gateways] COUNT SEED STEP [--first] | --story FILE... | --text SEED...")
        return false
    }
    var coverage = NightCoverage()
    var nights = 0
    var isWell = true
    for index in 0..<numbers[0] {
        let seed = numbers[1] + index * numbers[2]
        let story = Story(seed: seed)
        let result: NightResult
        do { result = try story.live() } catch {
            isWell = false
            say("error\tseed \(seed)\t\(error)")
            continue
        }
        nights += result.nights
        coverage.add(result.coverage)
        guard let broken = result.broken.first else { continue }
        isWell = false
        for broken in result.broken { say("broken\tseed \(seed)\t\(broken)") }
        if isFirstEnough { return false }
        let tries = ProcessInfo.processInfo.environment["YARDMASTER_NIGHTS_TRIES"].flatMap(Int.init)
        let small = story.shrunk(breaking: broken.promise, tries: tries ?? 300)
        for broken in small.broken { say("shrunk\tseed \(seed)\t\(broken)") }
        say("story\tseed \(seed)\n\(small.story.text)\nend of story")
    }
    for line in coverage.lines { say("cell\t\(line)") }
    say("nights\t\(nights)")
    return isWell
}

do {
    exit(try live() ? 0 : 1)
} catch {
    say("error\t\(error)")
    exit(70)
}
