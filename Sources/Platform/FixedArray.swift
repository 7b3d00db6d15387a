/// A table of elements that never moves or grows, for elements that cannot be copied.
///
/// One allocation, made once. Every access is bounds-checked and costs what a pointer costs.
@frozen
@safe
public struct FixedArray<Element: ~Copyable>: ~Copyable {
    // Points to `count` initialised elements for as long as the table lives, and to nobody else.
    @usableFromInline
    let base: UnsafeMutablePointer<Element>

    /// How many elements there are.
    public let count: Int

    /// A table of `count` elements, the i-th made by `element(i)`.
    @inlinable
    public init(count: Int, element: (Int) -> Element) {
        precondition(count >= 0, "a table has no negative size")
        // Safe: each index below `count` is initialised once.
        unsafe base = UnsafeMutablePointer<Element>.allocate(capacity: count)
        self.count = count
        for index in 0..<count { unsafe (base + index).initialize(to: element(index)) }
    }

    /// The element at `index`, in place; traps outside `0..<count`.
    @inlinable
    public subscript(index: Int) -> Element {
        // Safe: the index is checked, and the address is used under this table's own exclusivity.
        unsafeAddress {
            precondition(index >= 0 && index < count, "an index inside the table")
            return unsafe UnsafePointer(base + index)
        }
        unsafeMutableAddress {
            precondition(index >= 0 && index < count, "an index inside the table")
            return unsafe base + index
        }
    }

    /// The indices of the table.
    @inlinable
    public var indices: Range<Int> { 0..<count }

    deinit {
        // Safe: `count` elements are initialised, and nobody can reach them any more.
        unsafe base.deinitialize(count: count)
        unsafe base.deallocate()
    }
}

// Unchecked, for the pointer is not Sendable: the table is the only owner of its memory and cannot be
// copied, so it can go to another thread when its elements can.
extension FixedArray: @unchecked Sendable where Element: Sendable & ~Copyable {}
