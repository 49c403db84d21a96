import Base
import Manifest
import Testing

/// The image of each vehicle where an update chooses by family, model or label.
@Suite struct ImageChoiceTests {
    private static let fleet = """
        id,serial,family,profile,depot
        a,00112233445566aa,comodule,,north
        b,00112233445566ab,comodule,city,south
        c,TRK-1,mcumgr,,north

        """

    private func manifest(_ update: String) -> String {
        func image(_ name: String, _ family: String) -> String {
            """
              \(name): {url: "file:\(name)", sha256: "\(Sample.digest)", version: "4.12.0",
                fits: {family: \(family)}}

            """
        }
        return "name: mixed\nvehicles: {from: tallinn.csv}\nimages:\n" + image("bike", "comodule")
            + image("city", "comodule") + image("tracker", "mcumgr")
            + "steps:\n  - wait: 1s\n  - update: \(update)\n"
    }

    private func images(_ update: String, fleet: String = fleet) throws -> [String] {
        let (plan, diagnostics) = try Sample.read(manifest(update), fleet: fleet)
        return try #require(plan, "\(diagnostics)").vehicles.map { vehicle in
            vehicle.steps.compactMap { $0.update?.image }.joined(separator: "+")
        }
    }

    @Test(arguments: [
        ("{by: family, to: {comodule: bike, mcumgr: tracker}}", ["bike", "bike", "tracker"]),
        ("{by: depot, to: {north: bike, south: city}}", ["bike", "city", "bike"]),
    ])
    func `each vehicle gets the image of its value`(update: String, wanted: [String]) throws {
        #expect(try images(update) == wanted)
    }

    @Test func `a model is the name of its profile`() throws {
        let fleet = Self.fleet.replacing("c,TRK-1,mcumgr,,north\n", with: "")
        #expect(
            try images("{by: model, to: {generic: bike, city: city}}", fleet: fleet)
                == ["bike", "city"]
        )
    }

    @Test func `the other keys of the update hold for all, and its row has its own`() throws {
        let fleet = Self.fleet.replacing("depot\n", with: "depot,steps\n")
            .replacing("north\nb", with: "north,update: city\nb")
            .replacing("south\n", with: "south,\n").replacing("north\n", with: "north,\n")
        let (plan, diagnostics) = try Sample.read(
            manifest("{by: family, to: {comodule: bike, mcumgr: tracker}, downgrade: allow}"),
            fleet: fleet
        )
        let updates = try #require(plan, "\(diagnostics)").vehicles.compactMap {
            $0.steps.compactMap(\.update).first
        }
        #expect(updates.map(\.image) == ["city", "bike", "tracker"])
        #expect(updates.map(\.allowsDowngrade) == [false, true, true])
    }

    /// The work of each vehicle is signed; the way in which the manifest states it is not.
    @Test func `a choice is the same plan as the same steps in every row`() throws {
        let fleet = "id,serial,family\na,s,comodule\nb,t,mcumgr\n"
        let rows =
            "id,serial,family,steps\na,s,comodule,wait: 1s; update: bike\n"
            + "b,t,mcumgr,wait: 1s; update: tracker\n"
        let choice = manifest("{by: family, to: {comodule: bike, mcumgr: tracker}}")
        let plain = manifest("bike")
        let one = try #require(try Sample.read(choice, fleet: fleet).plan)
        let other = try #require(try Sample.read(plain, fleet: rows).plan)
        #expect(one.canonicalText == other.canonicalText)
    }

    @Test(arguments: [
        (
            "{by: family, to: {comodule: bike}}",
            "12:5: error: no image is named for family `mcumgr`, which c has"
        ),
        ("{by: depott, to: {north: bike}}", "3 vehicles, a the first of them, have no `depott`"),
        ("{to: {comodule: bike}}", "the key that chooses between these images is missing"),
        ("{by: family, to: bike}", "expected a map of values to images"),
        ("{by: family, to: {}}", "no image is named"),
        ("{by: family, to: {comodule: bik}}", "no image is named `bik`"),
        ("{by: family}", "needs the key `to`"),
    ])
    func `a choice that leaves a vehicle without an image is an error`(
        update: String,
        words: String
    ) throws {
        let (plan, diagnostics) = try Sample.read(manifest(update), fleet: Self.fleet)
        #expect(plan == nil)
        let text = diagnostics.map(\.description).joined(separator: "\n")
        #expect(text.contains(words), "\(text)")
    }

    @Test func `an image that does not fit is told at its own place`() throws {
        let (_, diagnostics) = try Sample.read(
            manifest("{by: family, to: {comodule: bike, mcumgr: city}}"),
            fleet: Self.fleet
        )
        let found = try #require(diagnostics.first { $0.severity == .error })
        #expect(found.message.contains("`city` fits comodule modules"), "\(found)")
        #expect(found.place.column > 40, "\(found)")
    }

    @Test func `an order names one image`() {
        let diagnostics = Diagnostics()
        let steps = OrderText.steps(
            "update {by: family, to: {comodule: bike}}",
            images: ["bike"],
            diagnostics
        )
        #expect(steps == nil)
        #expect(diagnostics.list.contains { $0.message.contains("no choice of images") })
    }
}
