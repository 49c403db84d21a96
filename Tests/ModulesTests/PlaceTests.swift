import Base
import Families
import Radio
import Testing

/// The places of properties in a module that uses SMP, as a profile states them.
@Suite struct PlaceTests {
    private static let head = """
        profile: lamp
        family: mcumgr
        title: A lamp
        known-from: this test
        advertisement: {service: 8d53dc1d-1db7-4cd3-868b-8a527460aa84, serial: {in: name}}
        gatt:
          management:
            service: 8d53dc1d-1db7-4cd3-868b-8a527460aa84
            smp: da2e7828-fbce-4e01-ae9e-261174997c48
        authentication: none
        properties:

        """

    private func read(_ properties: String) -> (profile: Profile?, list: [Diagnostic]) {
        let diagnostics = Diagnostics()
        let text = Self.head + properties.split(separator: "\n").map { "  \($0)\n" }.joined()
        let profile = Profile.parse(Array(text.utf8), file: "p.yaml", diagnostics)
        return (profile, diagnostics.list)
    }

    @Test func `a statistic, a setting, a file and a characteristic are properties`() throws {
        let (found, list) = read(
            """
            - {name: errors, type: range, access: read-only, read: {statistic: app, entry: errors}}
            - name: rate
              type: range
              access: read-write
              read: {setting: app/rate, bytes: 2}
              write: {setting: app/rate, bytes: 2, limits: [1, 1000], save: false}
            - {name: mode, type: text, access: read-write, read: {file: /lfs1/mode},
               write: {file: /lfs1/mode, bytes: 20}}
            - {name: battery, type: range, access: read-only,
               read: {characteristic: "2a19", service: "180f", bytes: 1}}
            """
        )
        let profile = try #require(found, "\(list)")
        #expect(list.isEmpty)
        #expect(profile.property("errors")?.source?.place == .statistic("app", entry: "errors"))
        #expect(profile.property("rate")?.source?.place == .setting("app/rate", isSaved: true))
        #expect(profile.property("rate")?.target?.place == .setting("app/rate", isSaved: false))
        #expect(profile.property("mode")?.target?.place == .file("/lfs1/mode"))
        #expect(
            profile.property("battery")?.source?.place
                == .characteristic(
                    Characteristic(GATTUUID(short: 0x2A19), of: GATTUUID(short: 0x180F))
                )
        )
        let errors = try #require(profile.property("errors"))
        #expect(errors.value(in: [1, 0, 0, 0, 1, 0, 0, 0]) == .number(4_294_967_297))
        #expect(errors.value(in: [255, 255, 255, 255, 255, 255, 255, 255]) == nil)
        let mode = try #require(profile.property("mode"))
        #expect(try mode.value(of: "quiet") == .state("quiet"))
        var bytes: [UInt8] = []
        #expect(mode.put(.state("quiet"), into: &bytes))
        #expect(bytes == Array("quiet".utf8))
        #expect(throws: PropertyWriteError.textTooLong("mode", limit: 20)) {
            try mode.value(of: String(repeating: "a", count: 21))
        }
    }

    @Test(arguments: [
        (
            "- {name: a, type: range, access: read-only, read: {register: '0201', at: 2, bytes: 1}}",
            "p.yaml:12:54: error: modules of this family have no `register`"
        ),
        (
            "- {name: a, type: text, access: read-only, read: {statistic: app, entry: errors}}",
            "p.yaml:12:46: error: a statistic is a number"
        ),
        (
            "- {name: a, type: range, access: write-only, "
                + "write: {statistic: app, entry: errors, limits: [0, 1]}}",
            "p.yaml:12:56: error: a statistic can be read and not written"
        ),
        (
            "- {name: a, type: raw, access: read-only, read: {setting: app/a, at: 511, bytes: 2}}",
            "p.yaml:12:68: error: 2 bytes from 511 on go beyond the 512 that can be there"
        ),
        (
            "- {name: a, type: range, access: read-only, read: {setting: 'a b', bytes: 2}}",
            "p.yaml:12:63: error: `a b` is no name that a module can have"
        ),
        (
            "- {name: a, type: range, access: read-only, read: {characteristic: '2a19', bytes: 1}}",
            "p.yaml:12:53: error: where it is read needs the key `service`"
        ),
        (
            "- {name: a, type: range, access: read-write, read: {setting: app/a, bytes: 1}}",
            "p.yaml:12:5: error: a property that is `read-write` needs the key `write`"
        ),
    ])
    func `each mistake in a place is one error with a hint`(text: String, error: String) throws {
        let (profile, list) = read(text)
        #expect(profile == nil)
        #expect(list.count == 1, "\(list)")
        #expect(list.first?.description.hasPrefix(error) == true, "\(list)")
        #expect(list.first?.hint?.isEmpty == false)
    }

    @Test func `a bike has no settings`() {
        let diagnostics = Diagnostics()
        let text = String(
            decoding: FamilyRegistry.profiles.first { $0.name == "comodule-generic.yaml" }?.bytes
                ?? [],
            as: UTF8.self
        )
        let place = "{register: \"fbfb\", at: 5, bytes: 1}"
        #expect(text.contains(place))
        let changed = text.replacing(place, with: "{setting: fbfb, bytes: 1}")
        #expect(Profile.parse(Array(changed.utf8), file: "p.yaml", diagnostics) == nil)
        #expect(diagnostics.list.map(\.message) == ["modules of this family have no `setting`"])
        #expect(diagnostics.list.first?.hint == "write `register`")
    }
}
