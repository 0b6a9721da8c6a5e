// error: quotients, means and totals of decimal numbers aren't exact: use `real` first
import Foundation
import Larder

func halves(_ price: SQLExpression<Decimal>) -> SQLExpression<Decimal> { price / 2 }
