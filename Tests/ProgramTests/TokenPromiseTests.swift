import Foundation
import Testing

/// A car-share token opens the vehicle for which it was issued, and is never tried on another one.
@Suite struct TokenPromiseTests {
    /// The four commands that read a fleet list; all of them must refuse the yard.
    private func refusals(_ yard: PromiseYard) throws -> [Program.Result] {
        [
            try yard.program.run(["validate", "yard.yaml"]),
            try yard.program.run(["plan", "yard.yaml", "--state", yard.program.state]),
            try yard.run(),
            try yard.exec("car", "command unlock-all"),
        ]
    }

    @Test(arguments: [
        (
            "id,serial,family,token\ncar,G9-0002,geotab-go,file:car.token\n",
            ["it is for the GO device g9-0001, the list says g9-0002", "fleet.csv:2:1"]
        ),
        (
            "id,serial,family,token,hardware-id\ncar,G9-0001,geotab-go,file:car.token,7\n",
            ["it is for the hardware id 553845661, the list says 7"]
        ),
        (
            "id,serial,family,secret,token,go-serial\n"
                + "car,00f0000000000001,comodule,file:key,file:car.token,G9-0002\n",
            ["it is for the GO device g9-0001, the list says g9-0002"]
        ),
        (
            "id,serial,family,secret,token,go-serial\ncar,G9-0001,geotab-go,,file:car.token,\n"
                + "bus,00f0000000000001,comodule,file:key,file:car.token,G9-0001\n",
            ["the vehicles car and bus have the token of one vehicle"]
        ),
        (
            "id,serial,family,secret,token,go-serial\ncar,G9-0001,geotab-go,,file:car.token,\n"
                + "bus,00f0000000000001,comodule,file:key,file:copy.token,G9-0001\n",
            ["the vehicles car and bus have the token of one vehicle"]
        ),
    ])
    func `a token of another vehicle is refused before radio work`(
        list: String,
        words: [String]
    ) throws {
        let yard = try PromiseYard()
        try yard.program.write("copy.token", SampleTokens.good)
        try yard.program.write("fleet.csv", list)
        try yard.program.write(
            "yard.yaml",
            "name: yard\nvehicles: {from: fleet.csv}\nsteps: [{command: unlock-all}]\n"
        )
        for result in try refusals(yard) {
            #expect(result.status == 77, "\(result.errors)")
            for word in words { #expect(result.errors.contains(word), "\(result.errors)") }
        }
        #expect(yard.deeds.isEmpty)
    }

    @Test func `a vehicle with a module and a GO device names both serials`() throws {
        let yard = try PromiseYard(bikes: [""])
        let manifest = "name: yard\nvehicles: {from: fleet.csv}\nsteps: [{command: lock}]\n"
        try yard.program.write("yard.yaml", manifest)
        try yard.program.write(
            "fleet.csv",
            "id,serial,family,secret,token\ncar,00f0000000000001,comodule,file:key,file:car.token\n"
        )
        for result in try refusals(yard) {
            #expect(result.status == 65, "\(result.errors)")
            #expect(result.errors.contains("fleet.csv:2:1: error: vehicle car has a module and a"))
            #expect(result.errors.contains("`go-serial`"))
        }
        try yard.program.write(
            "fleet.csv",
            "id,serial,family,secret,token,go-serial,hardware-id\n"
                + "car,00f0000000000001,comodule,file:key,file:car.token,g9-0001,553845661\n"
        )
        #expect(try yard.program.run(["validate", "yard.yaml"]).status == 0)
        #expect(try yard.run().status == 0)
        #expect(yard.deeds == ["lock"])
    }

    @Test func `a token that is not here is found by anyone who looks, and is no matter elsewhere`()
        throws
    {
        let yard = try PromiseYard()
        try yard.manifest(steps: "[{command: lock}]")
        try FileManager.default.removeItem(atPath: yard.program.folder.path + "/car.token")
        let result = try yard.program.run(["validate", "yard.yaml"])
        #expect(result.status == 66, "\(result.errors)")
        #expect(result.errors.contains("the secret of vehicle car cannot be read"))
        #expect(try yard.program.run(["validate", "yard.yaml", "--without-files"]).status == 0)
        #expect(try yard.run().status == 66)
    }

    @Test func `what another vehicle has for a token is no matter to one that is named`() throws {
        let yard = try PromiseYard()
        try yard.program.write(
            "fleet.csv",
            "id,serial,family,token\ncar,G9-0001,geotab-go,file:car.token\n"
                + "van,G9-0002,geotab-go,file:no.token\n"
        )
        try yard.manifest(steps: "[{command: lock}]")
        #expect(try yard.run("yard", "--limit", "car").status == 0)
        try yard.program.write("no.token", SampleTokens.good)
        let taken = try yard.exec("car", "command lock")
        #expect(taken.status == 77 && taken.errors.contains("car and van"), "\(taken.errors)")
    }
}
