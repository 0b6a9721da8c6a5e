// one error: WriteCoalesceForWhatIsNULL
import Larder

func query() throws {
  _ = City.filter { ($0.elevation ?? 0) > 5 }
}
