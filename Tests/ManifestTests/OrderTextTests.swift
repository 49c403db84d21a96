import Base
import Families
import Manifest
import Testing

/// Steps as a person types them on the command line.
@Suite struct OrderTextTests {
    private func read(_ text: String) -> (steps: [Step.Action]?, errors: [String]) {
        let diagnostics = Diagnostics()
        let steps = OrderText.steps(text, images: ["city-4.12"], diagnostics)
        return (steps?.map(\.action), diagnostics.list.map(\.message))
    }

    @Test(arguments: [
        ("command lock", [Step.Action.command([.lock])]),
        ("command lock, unlock-all", [.command([.lock, .unlockAll])]),
        ("set lights=enabled", [.set([Assignment("lights", Literal("enabled"))])]),
        (
            "set lights = enabled, assist=3",
            [.set([Assignment("assist", Literal("3")), Assignment("lights", Literal("enabled"))])]
        ),
        ("set: {lights: enabled}", [.set([Assignment("lights", Literal("enabled"))])]),
        ("read speed,lights; wait 5s", [.read(["speed", "lights"]), .wait(.seconds(5))]),
        ("feature led=on", [.feature([Assignment("led", Literal("on"))])]),
    ])
    func `an order is the step that a manifest would have`(text: String, steps: [Step.Action]) {
        let (found, errors) = read(text)
        #expect(errors == [])
        #expect(found == steps)
    }

    @Test(arguments: ["expect speed=0", "expect speed == 0", "expect: {speed: \"== 0\"}"])
    func `a condition is read however it is typed`(text: String) throws {
        let (found, errors) = read(text)
        #expect(errors == [])
        guard case .expect(let tests, _)? = found?.first else {
            Issue.record("no condition")
            return
        }
        #expect(tests.map(\.property) == ["speed"])
        #expect(tests.map(\.condition.description) == ["== 0"])
    }

    @Test(arguments: [
        ("", "empty"), ("lock", ""), ("command lokc", "is not a command"),
        ("update nobody", "no image is named"), ("set lights", ""), ("fly home", ""),
        ("wait 5", "the duration has no unit"),
    ])
    func `an order that is none says why`(text: String, words: String) {
        let (found, errors) = read(text)
        #expect(found == nil)
        #expect(errors.contains { $0.contains(words) } && !errors.isEmpty, "\(errors)")
    }
}
