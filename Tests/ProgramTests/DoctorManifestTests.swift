import Foundation
import Testing

/// What `doctor` says about a manifest that is meant for its host.
@Suite struct DoctorManifestTests {
    @Test func `doctor warns about a vehicle that is opened without a bond, as validate does`()
        throws
    {
        let program = try Program()
        func told(_ row: String) throws -> Program.Result {
            try program.write(
                "cars.yaml",
                """
                name: cars
                vehicles:
                  - {id: car-1, serial: G9-0001, family: geotab-go, token: "file:1.token"\(row)}
                steps: [{command: unlock-all}, {command: lock}]

                """
            )
            return try program.run(["doctor", "cars.yaml", "--bus", "unix:path=/nonexistent"])
        }
        let open = try told("")
        let validated = try program.run(["validate", "cars.yaml", "--without-files"])
        let sentence = "the vehicle `car-1` is opened over a link without a bond"
        #expect(validated.errors.contains("cars.yaml:3:5: warning: " + sentence))
        #expect(open.output.contains("warning  cars.yaml:3:5: " + sentence), "\(open.output)")
        #expect(open.output.contains("do: give it `pairing: passkey`"), "\(open.output)")
        #expect(open.status == 69, "there is no Bluetooth either")
        let bonded = try told(", pairing: passkey, passkey: \"file:1.digits\"")
        #expect(!bonded.output.contains("cars.yaml"), "\(bonded.output)")
        #expect(bonded.status == 69, "\(bonded.errors)")
        let wrong = try told(", colour: [")
        #expect(wrong.status == 65 && wrong.output.isEmpty, "\(wrong.output) \(wrong.errors)")
    }
}
