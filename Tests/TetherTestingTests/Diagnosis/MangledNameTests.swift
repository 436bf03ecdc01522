import Testing

@testable import TetherTesting

/// What the name of a type tells of it, without the runtime.
@Suite struct MangledNameTests {
    private func name(_ name: String, _ rest: [UInt8] = []) -> MangledName? {
        let bytes = Array(name.utf8) + rest
        let memory = Words(
            stride(from: 0, through: bytes.count, by: 8).map { begin in
                bytes[begin..<min(begin + 8, bytes.count)].reversed().reduce(0) { $0 << 8 | UInt($1) }
            })
        defer { withExtendedLifetime(memory) {} }
        return MangledName(at: memory.address)
    }

    private func parameters(_ text: String, _ rest: [UInt8] = []) -> Set<String>? { name(text, rest)?.parameters }

    @Test(arguments: ["4Main4View_pSgXw", "4Main4View_pXo", "yXlXu", "4Main4View_4Main4ViewCXcSgXw", "SiyXPSgXw"])
    func `L3 a weak or an unowned reference to any type of a protocol is known as one`(text: String) {
        #expect(name(text)?.isExistential == true)
    }

    @Test(arguments: ["4Main4ViewCSgXw", "4Main4ViewCyxxQp_GSgXw", "xSgXw", "xXo"])
    func `L3 a reference to an object of a class is known as one word`(text: String) {
        #expect(name(text)?.isExistential == false)
    }

    @Test func `L3 generic parameters are found in a type's name, wherever they stand`() {
        #expect(parameters("Si") == [])
        #expect(parameters("x") == ["x"])
        #expect(parameters("SayxG") == ["x"])
        #expect(parameters("SDyq_q0_G") == ["q_", "q0_"])
        #expect(parameters("qd__qd_0_t") == ["qd__", "qd_0_"])
        #expect(parameters("x_Siq_t") == ["x", "q_"])
        #expect(parameters("7ElementQz") == ["x"])
        #expect(parameters("7ElementQy0_") == ["q0_"])
    }

    @Test func `L3 a name's part that only looks like a generic parameter is none`() {
        // An optional, the label `x`, builtins, a substitution, a label with words of others in it.
        #expect(parameters("SqySiG") == [])
        #expect(parameters("Si1x_Si1qt") == [])
        #expect(parameters("Bi64_") == [])
        #expect(parameters("So8NSObjectC_ADxAaBt") == ["x"])
        #expect(parameters("Si5queue_Si03maxA0t") == [])
        // A label that is not of ASCII alone, an actor, an opaque type.
        #expect(parameters("Si0011Mnchenx_3ya_t") == [])
        #expect(parameters("ScA_p") == [])
        #expect(parameters("SiQo0_") == [])
        // The address in a symbolic reference is any bytes: here `xqQp`, and eight of them.
        #expect(parameters("", [1] + "xqQp".utf8 + "ySiG".utf8) == [])
        #expect(parameters("", [0x18] + "xqQpQPQe".utf8 + "yxG".utf8) == ["x"])
    }

    @Test(arguments: [
        "xxQp_t", "yxxQp_QPG", "xQe_", "SixxQp_QSd_t", "Q", "S", "B", "q", "q0", "qd_", "9short", "A", "05wordA", "A-",
        "Bi64x", "Sc", "Qo", "Qy0", "qd_0",
    ])
    func `L3 a name with a parameter pack, or one that is not understood, is untold`(name: String) {
        #expect(parameters(name) == nil)
    }
}
