// error: requires that 'String' conform to 'BinaryNumberValue'
import Larder

func mean(_ name: SQLExpression<String>) -> SQLExpression<Double?> { name.average() }
