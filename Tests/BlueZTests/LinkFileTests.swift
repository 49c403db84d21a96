import BlueZ
import Testing
import Workbench

/// The files in which links and bonds of ours are kept between runs.
@Suite struct LinkFileTests {
    private let own = "C0:00:00:00:00:01"

    @Test(arguments: [
        "C0:00:00:00:00:02\r\nC0:00:00:00:00:03\r\n", "C0:00:00:00:00:02\nC0:00:00:00:00:03",
        "C0:00:00:00:00:02\r\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}-\rzz:zz:zz:zz:zz:zz\nC0:00:00:00:00:03\n",
    ])
    func `links are known again, whatever ends a line and whatever else is in the file`(
        text: String
    ) throws {
        let scratch = try Scratch()
        let path = scratch.path + "/links"
        try write(text.utf8, to: path)
        let file = LinkFile(path: path, bonds: scratch.path + "/bonds")
        file.add(own)
        file.bonded(own, at: "hci0")
        #expect(file.links() == [own, "C0:00:00:00:00:02", "C0:00:00:00:00:03"])
        let again = LinkFile(path: path, bonds: scratch.path + "/bonds")
        #expect(again.links() == file.links())
        #expect(again.bonds() == [own: "hci0"])
    }
}
